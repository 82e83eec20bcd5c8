"""systemd units and the containers of compose.yaml: commands exist, are sandboxed, and work."""

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
import yaml
from django.core.management import get_commands

from tests import servers

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
INSTALL = ROOT / "docs/operations/install.md"
SERVICES = sorted(DEPLOY.glob("*.service"))
TIMERS = sorted(DEPLOY.glob("*.timer"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
EXPOSURE_MAX = 1.2  # of 10, as systemd counts

ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(not ANALYZE, reason="there is no systemd-analyze here")


# --- systemd -----------------------------------------------------------------------------------


@pytest.fixture
def units(tmp_path):
    """The units, copied as install.md says, with /srv/jobsite replaced by this checkout."""
    folder = tmp_path / "system"
    folder.mkdir()
    [copy] = re.findall(r"^cp .*\.service.*", INSTALL.read_text(), re.MULTILINE)
    copy = copy.replace("/etc/systemd/system/", str(folder))
    subprocess.run(["sh", "-c", copy], cwd=ROOT, check=True)
    for path in folder.rglob("*.*"):
        if path.is_file() and not path.is_symlink():
            text = path.read_text()
            text = text.replace("/srv/jobsite/.venv/bin", str(Path(sys.executable).parent))
            path.write_text(text.replace("/srv/jobsite", str(ROOT)))
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        path.name for path in (*SERVICES, *TIMERS)
    }
    return [path for path in folder.iterdir() if path.is_file()]


def analyze(*words):
    return subprocess.run([ANALYZE, *words], capture_output=True, text=True, check=False)


@needs_systemd
def test_systemd_accepts_the_units(units):
    done = analyze("verify", "--man=no", *units)

    assert (done.returncode, done.stderr) == (0, "")


@needs_systemd
def test_exposure_is_low(units):
    """systemd finds the sandbox, which is in a file beside the units."""
    for unit in units:
        if unit.suffix != ".service":
            continue
        done = analyze("security", "--no-pager", "--offline=true", unit)
        if "--offline" in done.stderr:
            pytest.skip("this systemd-analyze asks a running systemd")
        [exposure] = re.findall(r"exposure level for \S+: ([0-9.]+)", done.stdout)
        assert float(exposure) <= EXPOSURE_MAX, unit


def test_services_have_one_account_and_timers():
    texts = [unit.read_text() for unit in SERVICES]
    accounts = {tuple(re.findall(r"^(?:User|EnvironmentFile)=.*", text, re.M)) for text in texts}

    assert accounts == {("User=jobsite", "EnvironmentFile=/etc/jobsite/env")}
    always = {"jobsite", "jobsite-deliver"}
    assert {timer.stem for timer in TIMERS} == {unit.stem for unit in SERVICES} - always


# --- Commands ----------------------------------------------------------------------------------


def test_commands_exist():
    text = "".join(unit.read_text() for unit in SERVICES)
    text += "".join(
        f" {' '.join(service.get('command', []))} " for service in COMPOSE["services"].values()
    )
    started = set(re.findall(r"manage\.py ([a-z_]+)", text))

    assert started == {
        "backup",
        "check",
        "collectstatic",
        "create_roles",
        "deliver",
        "maintain_lists",
        "update_statistics",
        "migrate",
        "purge",
    }
    assert started <= get_commands().keys()


# --- Containers --------------------------------------------------------------------------------


def test_only_nginx_publishes_a_port():
    services = COMPOSE["services"]

    assert [name for name, service in services.items() if "ports" in service] == ["nginx"]
    address = services["nginx"]["networks"]["inside"]["ipv4_address"]
    assert services["app"]["environment"]["TRUSTED_PROXIES"] == f"{address}/32"
    assert all(service.get("image", "").count(":") == 1 for service in services.values())


def test_no_secret_is_committed():
    output = "\n".join(
        f"{name}: {value}"
        for service in COMPOSE["services"].values()
        for name, value in service.get("environment", {}).items()
        if re.search("PASSWORD|SECRET|KEY|_URL", name)
    )

    assert "DATABASE_URL" in output
    assert re.findall(r"PASSWORD: (?!\$\{\w+:\?\}$).*", output, re.MULTILINE) == []
    assert re.findall(r"//[^@/:]*:(?!\$\{\w+:\?\}@)[^@/]*@", output) == []
    assert "SECRET_KEY" not in output  # it stays in .env


def test_prometheus_reads_the_metrics_of_the_site_and_the_rules():
    monitor, app = COMPOSE["services"]["prometheus"], COMPOSE["services"]["app"]
    config = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())
    [job] = config["scrape_configs"]
    port = app["environment"]["METRICS_PORT"]
    assert (job["job_name"], job["static_configs"]) == ("jobsite", [{"targets": [f"app:{port}"]}])
    assert app["environment"]["METRICS_ADDRESS"] == app["networks"]["inside"]["ipv4_address"]
    assert {"TRUSTED_PROXIES", "CACHE_URL", "DATABASE_URL", "BIND"} <= app["environment"].keys()
    mounted = dict(volume.removesuffix(":ro").split(":") for volume in monitor["volumes"])
    files = {name: Path(target).name for name, target in mounted.items() if name.startswith("./")}
    assert files == {
        "./prometheus.yaml": "prometheus.yml",
        "./alerts.yaml": config["rule_files"][0],
    }
    assert all((DEPLOY / name).is_file() for name in files)
    assert monitor["profiles"] == ["monitoring"]


@pytest.mark.slow("starts PostgreSQL")
@pytest.mark.skipif(servers.POSTGRES is None, reason="there is no PostgreSQL here")
def test_database_container_has_the_database_of_the_site():
    """The script of compose.yaml for PostgreSQL's image."""
    folder = servers.folder()
    server = servers.Postgres(folder / "primary")
    lines = ("host all postgres 127.0.0.1/32 trust", "host all all 127.0.0.1/32 scram-sha-256", "")
    (server.folder / "pg_hba.conf").write_text("\n".join(lines))
    env = {"PATH": f"{servers.POSTGRES}:{os.environ['PATH']}", "PGHOST": "127.0.0.1"}
    env |= {
        "PGPORT": f"{server.port}",
        "DATABASE_PASSWORD": "of-the-site",
        "POSTGRES_USER": "postgres",
    }
    with server:
        script = ["sh", DEPLOY / "create-database.sh"]
        done = subprocess.run(script, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        url = f"postgres://jobsite:of-the-site@127.0.0.1:{server.port}/jobsite"
        with psycopg.connect(url, connect_timeout=2) as connection:
            connection.execute("CREATE TABLE vacancy AS SELECT 1 AS id")
            role = "SELECT rolsuper, rolreplication FROM pg_roles WHERE rolname = 'jobsite'"
            assert connection.execute(role).fetchone() == (False, False)
    shutil.rmtree(folder, ignore_errors=True)


# --- Releases ----------------------------------------------------------------------------------


@pytest.mark.slow("starts gunicorn")
def test_reload_replaces_all_workers_and_loses_no_request(tmp_path):
    (tmp_path / "answers.py").write_text(
        "import os\n"
        "def application(environ, start_response):\n"
        "    start_response('200 OK', [])\n"
        "    return [str(os.getpid()).encode()]\n"
    )
    command = f"{sys.executable} -m gunicorn answers:application --workers 2 --no-control-socket"
    command += " --bind 127.0.0.1:PORT --log-level error"
    server = servers.Application(tmp_path / "answers", *command.split(), env={}, probe="/")
    server.cwd = tmp_path

    answers: list[bytes | None] = []
    is_over = threading.Event()

    def ask_on() -> None:
        while not is_over.wait(0.02):
            answers.append(None)
            with suppress(OSError):
                answers[-1] = servers.get(server.port, "/", timeout=servers.TIMEOUT)[2]

    with server:
        servers.until(lambda: len(server.pids()) == 3)
        master, *before = server.pids()
        asking = threading.Thread(target=ask_on)
        asking.start()
        try:
            env = os.environ | {"WEB_CONCURRENCY": "2", "RELOAD_SECONDS": "2"}
            subprocess.run([DEPLOY / "reload.sh", str(master)], check=True, env=env)
            servers.until(lambda: len(server.pids()) == 3)
        finally:
            is_over.set()
            asking.join()
        after = server.pids()[1:]

    assert not {*before} & {*after}
    assert None not in answers
