"""nginx with any configuration, as a load balancer, and with the configuration of production."""

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.process import ROOT, Server, free_port
from tests.servers.web import Gunicorn, Web

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
HOST = "jobs.example.com"  # the server_name of deploy/nginx.conf
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class Nginx(Web):
    """nginx with the directives `http`, in which "PORT" stands for its port."""

    def __init__(self, folder: Path, http: str) -> None:
        super().__init__(folder)
        folder.mkdir(exist_ok=True)
        temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in _TEMPORARY)
        (folder / "conf").write_text(f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off; pid {folder}/pid; error_log stderr warn; worker_processes 1;
            events {{ worker_connections 1024; }}
            http {{ access_log off; {temporary} {http.replace("PORT", str(self.port))} }}
        """)
        self.command = [str(NGINX), "-p", str(folder), "-c", str(folder / "conf"), "-e", "stderr"]


class LoadBalancer(Nginx):
    """nginx in front of `nodes`, on a plain port, with the proxy and timeout settings of
    deploy/nginx.conf.

    It has neither its cache nor its limits, which would hide failures of the nodes, and no limit on
    the time for retries, which a slow machine would exceed.
    """

    def __init__(self, folder: Path, nodes: Sequence[Gunicorn]) -> None:
        deployed = (ROOT / "deploy/nginx.conf").read_text()
        names = r"proxy_(?!cache|hide|next_upstream_timeout)|client_(?:header|body)_timeout|keepalive_timeout"
        settings = re.findall(rf"^ {{4}}(?:{names})[^#\n]*", deployed, re.M)
        settings = [line for line in settings if "$id" not in line]
        node = re.search(r"server 127.0.0.1:8000( [^;]*;)", deployed)
        assert settings, "deploy/nginx.conf has no proxy settings"
        assert node, "deploy/nginx.conf names no node"
        upstream = " ".join(f"server 127.0.0.1:{each.port}{node[1]}" for each in nodes)
        http = f"""
            keepalive_requests 1000000;
            {" ".join(settings)}
            upstream nodes {{ {upstream} keepalive 32; }}
            server {{ listen 127.0.0.1:PORT; location / {{ proxy_pass http://nodes; }} }}
        """
        super().__init__(folder, http)


class ProductionNginx(Server):
    """nginx with deploy/nginx.conf, except for paths and ports of this machine and `changes`. It
    serves TLS with a certificate of its own in front of the port `node`.
    """

    def __init__(self, folder: Path, node: int, changes: dict[str, str] | None = None) -> None:
        super().__init__(folder)
        folder.mkdir(exist_ok=True)
        self.port, self.plain_port = free_port(), free_port()
        self.conf, self.acme = folder / "nginx.conf", folder / "html/.well-known/acme-challenge"
        local = {
            "user www-data;": "user root;" if os.geteuid() == 0 else "",
            "pid /run/nginx.pid": f"daemon off; pid {folder}/pid",
            "/var/log/nginx/": f"{folder}/",
            "/var/lib/nginx/": f"{folder}/",
            "/srv/jobsite/": f"{folder}/",
            "/var/www/html": f"{folder}/html",
            f"/etc/letsencrypt/live/{HOST}/": f"{folder}/",
            "listen 80 ": f"listen 127.0.0.1:{self.plain_port} ",
            "listen 443 ": f"listen 127.0.0.1:{self.port} ",
            "server 127.0.0.1:8000 ": f"server 127.0.0.1:{node} ",
        }
        text = (ROOT / "deploy/nginx.conf").read_text()
        text = re.sub(r"\n *listen \[::\]:[^\n]*", "", text)
        for old, new in {**local, **(changes or {})}.items():
            assert old in text, old
            text = text.replace(old, new)
        temporary = "".join(f"{name}_temp_path {folder}/{name}; " for name in _TEMPORARY)
        self.conf.write_text(text.replace("http {", f"http {{ {temporary}", 1))
        self.certificate = folder / "fullchain.pem"
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-keyout",
                folder / "privkey.pem",
                "-out",
                self.certificate,
                "-days",
                "2",
                "-subj",
                f"/CN={HOST}",
                "-addext",
                f"subjectAltName=DNS:{HOST}",
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )
        prefix, conf, log = map(str, (folder, self.conf, folder / "error.log"))
        self.command = [str(NGINX), "-p", prefix, "-c", conf, "-e", log]

    def is_up(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        return False

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of the access log."""
        return [json.loads(line) for line in (self.folder / "access.log").read_text().splitlines()]
