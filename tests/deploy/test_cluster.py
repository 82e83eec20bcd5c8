"""The configuration of deploy/cluster, as the programs themselves read it
where they are installed.
"""

import importlib
import os
import re
import shutil
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import ROOT, Server, free_port

FOLDER = ROOT / "deploy/cluster"
PASSWORD = "LettersAndDigits1"
SENTINEL = shutil.which("redis-sentinel")
HAPROXY = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.fixture(scope="module")
def render() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        return importlib.import_module("render")


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.ini"
    path.write_text((FOLDER / "cluster.ini").read_text().replace("= CHANGE", f"= {PASSWORD}"))
    return path


def run(ini: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["python3", str(FOLDER / "render.py"), str(ini), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_machine_gets_the_files_of_its_parts(ini: Path, tmp_path: Path) -> None:
    def files(machine: str) -> set[str]:
        root = tmp_path / machine
        done = run(ini, machine, "--root", str(root))
        assert done.returncode == 0, done.stderr
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

    assert files("db1") == {"etc/default/etcd", "etc/patroni/config.yml", "etc/redis/sentinel.conf"}
    assert files("app2") == {
        "etc/haproxy/haproxy.cfg",
        "etc/redis/redis.conf",
        "etc/nginx/nginx.conf",
        "etc/jobsite/env",
    }


def test_no_variable_and_no_example_password_remains_and_nginx_has_all_nodes(
    render: Any, ini: Path
) -> None:
    cluster = render.Cluster.read(ini)
    for machine in cluster.machines:
        for path, text in cluster.files(machine).items():
            assert path.startswith("/etc/nginx/") or "$" not in text, path
            assert "CHANGE" not in text, path
    assert re.findall(r"^ *server ([0-9.:]+) ", cluster.nginx(), re.M) == [
        "10.0.0.21:8000",
        "10.0.0.22:8000",
    ]


def test_patroni_never_loses_an_acknowledged_save(render: Any, ini: Path) -> None:
    cluster = render.Cluster.read(ini)
    text = cluster.files(cluster.machine("db2"))["/etc/patroni/config.yml"]
    found = yaml.safe_load(text)
    dcs = found["bootstrap"]["dcs"]

    assert (dcs["synchronous_mode"], dcs["synchronous_mode_strict"]) == (True, True)
    assert dcs["loop_wait"] + 2 * dcs["retry_timeout"] <= dcs["ttl"]
    assert found["etcd"]["hosts"] == ["10.0.0.11:2379", "10.0.0.12:2379", "10.0.0.13:2379"]
    assert found["postgresql"]["listen"] == "10.0.0.12:5432"


@pytest.mark.skipif(not HAPROXY, reason="HAProxy is not installed")
def test_haproxy_accepts_its_configuration(render: Any, ini: Path, tmp_path: Path) -> None:
    cluster = render.Cluster.read(ini)
    text = cluster.files(cluster.machine("app1"))["/etc/haproxy/haproxy.cfg"]
    path = tmp_path / "haproxy.cfg"
    path.write_text(re.sub("    (user|group) haproxy\n", "", text))
    done = subprocess.run(
        [str(HAPROXY), "-c", "-f", path], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr + done.stdout
    assert "db2-primary 10.0.0.12:5432 backup track primary/db2" in text


@pytest.mark.slow("starts a server")
@pytest.mark.skipif(not SENTINEL, reason="Sentinel is not installed")
def test_sentinel_refuses_clients_without_the_password(
    render: Any, ini: Path, tmp_path: Path
) -> None:
    cluster, port = render.Cluster.read(ini), free_port()
    text = cluster.files(cluster.machine("db1"))["/etc/redis/sentinel.conf"]
    text = text.replace("bind 10.0.0.11", "bind 127.0.0.1").replace("port 26379", f"port {port}")
    text = text.replace("/var/lib/redis", str(tmp_path)).replace("/run/sentinel", str(tmp_path))
    path = tmp_path / "sentinel.conf"
    path.write_text(text)

    def answer(line: str) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(f"{line}\r\n".encode())
            return link.recv(100)

    class Sentinel(Server):
        command = [str(SENTINEL), str(path)]

        def is_up(self) -> bool:
            with suppress(OSError):
                return bool(answer("PING"))
            return False

    with Sentinel(tmp_path):
        assert answer("SENTINEL MASTERS").startswith(b"-NOAUTH")
        assert answer(f"AUTH {PASSWORD}") == b"+OK\r\n"


def test_settings_use_the_own_haproxy_first(render: Any, ini: Path) -> None:
    cluster = render.Cluster.read(ini)
    settings = cluster.settings(cluster.machine("app2"))

    assert settings == {
        "DATABASE_URL": f"postgres://jobsite:{PASSWORD}@10.0.0.22:5000,10.0.0.21:5000/jobsite"
        "?target_session_attrs=read-write",
        "REPLICA_URL": f"postgres://jobsite:{PASSWORD}@10.0.0.22:5001,10.0.0.21:5001/jobsite",
        "CACHE_URL": f"redis://:{PASSWORD}@10.0.0.22:6380/0",
        "BIND": "10.0.0.22:8000",
        "TRUSTED_PROXIES": "10.0.0.21/32,10.0.0.22/32",
    }


def test_settings_replace_lines_of_the_environment_file(render: Any) -> None:
    old = "SECRET_KEY=a\nDATABASE_URL=b\n# CACHE_URL=c\n"

    assert render.with_settings(old, {"DATABASE_URL": "1", "CACHE_URL": "2", "BIND": "3"}) == (
        "SECRET_KEY=a\nDATABASE_URL=1\nCACHE_URL=2\nBIND=3\n"
    )


def test_files_that_a_server_rewrites_are_written_once(ini: Path, tmp_path: Path) -> None:
    run(ini, "app2", "--root", str(tmp_path))
    path = tmp_path / "etc/redis/redis.conf"
    path.write_text(f"{path.read_text()}# changed\n")
    done = run(ini, "app2", "--root", str(tmp_path))

    assert "left as it is" in done.stdout
    assert path.read_text().endswith("# changed\n")


def test_mistakes_are_named(render: Any, ini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ini.read_text()
    monkeypatch.setattr("sys.argv", ["render.py", str(ini), "db1", "--root", "/nonexistent"])
    for old, new, message in (
        (f"site = {PASSWORD}", "site = CHANGE", "the password site needs"),
        ("10.0.0.12 etcd", "10.9.0.12 etcd", "not in the network"),
        ("10.0.0.12 etcd", "10.0.0.12", "etcd needs an odd number"),
        ("app1 = 10.0.0.21 application", "app1 = 10.0.0.21 web", "no such part: web"),
    ):
        ini.write_text(text.replace(old, new))
        with pytest.raises(SystemExit, match=message):  # status 1, with this text on stderr
            render.main()
