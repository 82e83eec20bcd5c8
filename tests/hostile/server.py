"""The servers that get the hostile requests:
as in production, except for limits that tests would reach.
"""

from pathlib import Path

from tests import servers
from tests.hostile.content import ENV
from tests.hostile.corpus.case import HOST


def gunicorn(folder: Path, url: str, workers: int = 2) -> servers.Gunicorn:
    env = ENV | {"DATABASE_URL": url, "WEB_CONCURRENCY": str(workers), "PYTHONWARNINGS": "ignore"}
    env |= {"PRIVATE_ROOT": str(folder / "private")}
    server = servers.Gunicorn(folder / "gunicorn", env)
    server.host = HOST
    return server


def nginx(folder: Path, node: int) -> servers.ProductionNginx:
    """nginx with deploy/nginx.conf, which lets a client send any number of requests."""
    changes = {
        f"server_name {servers.HOST};": f"server_name {HOST};",
        "rate=50r/s": "rate=100000r/s",
    }
    return servers.ProductionNginx(folder / "nginx", node, changes)
