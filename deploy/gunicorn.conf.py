"""How gunicorn serves the site: `gunicorn -c deploy/gunicorn.conf.py`, behind nginx (deploy/nginx.conf).

The environment says where to listen (BIND), with how many processes (WEB_CONCURRENCY, best one for each
core) of how many threads (WEB_THREADS), and whose X-Forwarded-* is believed (TRUSTED_PROXIES). Anything else
can be had for once with GUNICORN_CMD_ARGS, which comes after this file.
"""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from gunicorn import util

chdir = str(Path(__file__).resolve().parent.parent)
wsgi_app = "jobsite.wsgi"
bind = os.environ.get("BIND", "127.0.0.1:8000")

# --- Processes and threads -----------------------------------------------------------------------

worker_class = "gthread"  # a slow query holds up a thread, not all who come after it
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
preload_app = False  # HUP loads the code anew, and no connection of the database is shared over a fork
max_requests = 200_000  # nothing is known to leak; if something does, it does not grow for ever
max_requests_jitter = 50_000  # not all of them at once
worker_tmp_dir = "/dev/shm"  # the sign of life must not wait for a disk
control_socket_disable = True

# --- Time ----------------------------------------------------------------------------------------

timeout = 60  # a worker that gives no sign of life; what one request may take, STATEMENT_TIMEOUT bounds
graceful_timeout = 30  # longer than any answer takes
keepalive = 75  # longer than nginx keeps one, so that no request meets a connection that is being closed

# --- What is believed, and how much is read ------------------------------------------------------

forwarded_allow_ips = os.environ.get("TRUSTED_PROXIES", "127.0.0.1,::1")
secure_scheme_headers = {"X-FORWARDED-PROTO": "https"}
forwarder_headers = ""  # nobody sets SCRIPT_NAME by a header
limit_request_line = 8190  # as nginx does: what is too long is refused there


def write_problem(sock: Any, status: int, reason: str, message: str) -> None:
    """Answer what never reached Django, such as a request that is none, as Django answers what is wrong:
    by a problem document. It repeats nothing of what came, and `message` does."""
    body = json.dumps({"type": "about:blank", "title": reason, "status": status,
                       "detail": HTTPStatus(status).description or reason}).encode()  # fmt: skip
    head = (
        f"HTTP/1.1 {status} {reason}",
        "Connection: close",
        "Cache-Control: no-store",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
    )
    util.write_nonblock(sock, "\r\n".join([*head, "", ""]).encode() + body)


util.write_error = write_problem  # gunicorn has no setting for it

# --- Logs and figures ----------------------------------------------------------------------------

# Requests are written down by the site (LOG_REQUESTS); these are the lines about processes.
if os.environ.get("LOG_FORMAT", "json") == "json":
    logconfig_dict = {
        "formatters": {
            "generic": {
                "()": "pythonjsonlogger.json.JsonFormatter",
                "fmt": "%(levelname)s %(name)s %(message)s",
                "rename_fields": {"levelname": "level", "name": "logger", "exc_info": "traceback"},
                "timestamp": True,
            }
        },
        "loggers": {"gunicorn.error": {"level": "INFO", "handlers": ["error_console"], "propagate": False}},
        "root": {"level": "WARNING", "handlers": ["error_console"]},
    }


def on_starting(server: Any) -> None:
    """Make a folder in memory that the processes count in, for METRICS_PORT (jobsite/ops/metrics.py)."""
    server.counted_in = tempfile.mkdtemp(prefix="jobsite-metrics-", dir=worker_tmp_dir)
    os.chown(server.counted_in, server.cfg.uid, server.cfg.gid)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = server.counted_in


def post_worker_init(worker: Any) -> None:
    """Keep a connection to SQLite open: with the last one SQLite deletes its -wal and -shm files, and on a
    full disk the next reader could not create them again."""
    # the master process must not import Django
    from django.db import DatabaseError, connections

    worker.connection = connections["default"].copy()
    if worker.connection.vendor == "sqlite":
        with suppress(DatabaseError):  # told by whoever needs it
            worker.connection.ensure_connection()


def on_exit(server: Any) -> None:
    shutil.rmtree(server.counted_in, ignore_errors=True)
