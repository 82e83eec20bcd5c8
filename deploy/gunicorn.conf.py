"""gunicorn's configuration: `gunicorn -c deploy/gunicorn.conf.py`, behind nginx
(deploy/nginx.conf).

Environment variables set the address (BIND), the number of processes (WEB_CONCURRENCY, one per
core), the threads per process (WEB_THREADS) and the proxies whose X-Forwarded-* headers are trusted
(TRUSTED_PROXIES). GUNICORN_CMD_ARGS overrides any other setting for one run.
"""

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from gunicorn import util


def number(name: str, value: str) -> int:
    if not value.isdecimal() or not int(value):
        sys.exit(f"{name} is {value!r}, not a whole number of 1 or more.")
    return int(value)


chdir = str(Path(__file__).resolve().parent.parent)
wsgi_app = "jobsite.wsgi"
bind = os.environ.get("BIND", "127.0.0.1:8000")
for _address in bind.split(","):
    try:
        util.parse_address(_address)
    except RuntimeError as error:
        sys.exit(f"BIND is {bind!r}: {error}")

# --- Processes and threads -----------------------------------------------------------------------

worker_class = "gthread"  # a slow query blocks one thread, not the whole process
workers = number("WEB_CONCURRENCY", os.environ.get("WEB_CONCURRENCY", "2"))
threads = number("WEB_THREADS", os.environ.get("WEB_THREADS", "4"))
# A reload loads the new code, and no database connection is shared across a fork.
preload_app = False
max_requests = 200_000  # limits an unknown memory leak
max_requests_jitter = 50_000  # so that workers do not restart at the same time
worker_tmp_dir = "/dev/shm"  # the heartbeat must not wait for a disk
control_socket_disable = True

# --- Timeouts ------------------------------------------------------------------------------------

# Seconds without a heartbeat, which is independent of requests: a frozen worker holds its requests
# for that long, then nginx sends them to another one. STATEMENT_TIMEOUT limits a request.
timeout = 10
LOADING_MAX = 60  # seconds to load the site
graceful_timeout = 30  # longer than any request takes
keepalive = 75  # longer than nginx's, so that nginx never sends a request on a closing connection

# --- Trusted headers and request size ------------------------------------------------------------

forwarded_allow_ips = os.environ.get("TRUSTED_PROXIES", "127.0.0.1,::1")
secure_scheme_headers = {"X-FORWARDED-PROTO": "https"}
forwarder_headers = ""  # no header sets SCRIPT_NAME
limit_request_line = 8190  # the same limit as nginx, which refuses longer ones


def write_problem(sock: Any, status: int, reason: str, message: str) -> None:
    """Send a problem document, as Django does, for a request that does not reach Django (invalid
    HTTP).

    `message` is not used, because it repeats parts of the request. The path is not known here: an
    empty `instance` refers to the request itself.
    """
    detail = HTTPStatus(status).description or reason
    body = json.dumps(
        {"type": "about:blank", "title": reason, "status": status, "detail": detail, "instance": ""}
    ).encode()
    head = (
        f"HTTP/1.1 {status} {reason}",
        "Connection: close",
        "Cache-Control: no-store",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
    )
    util.write_nonblock(sock, "\r\n".join([*head, "", ""]).encode() + body)


util.write_error = write_problem  # gunicorn has no setting for this

# --- Logs and metrics ----------------------------------------------------------------------------

# The site logs the requests itself (LOG_REQUESTS). These lines are about processes.
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
        "loggers": {
            "gunicorn.error": {"level": "INFO", "handlers": ["error_console"], "propagate": False}
        },
        "root": {"level": "WARNING", "handlers": ["error_console"]},
    }


def require_address(host: str, port: int) -> None:
    """End with a line that names BIND if gunicorn cannot listen there.
    Wait for a server that is stopping.
    """
    for is_last in (False, False, False, False, True):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
                break
            except OverflowError:
                sys.exit(f"BIND: the port {port} is not from 0 to 65535.")
            except OSError as error:
                if is_last:
                    sys.exit(f"BIND: cannot listen on {host}:{port}: {error.strerror}.")
        time.sleep(1)


def on_starting(server: Any) -> None:
    """Check the address, unless sockets are inherited, and create a folder in memory for the
    counters of all processes, for METRICS_PORT (jobsite.ops.metrics).
    """
    if not {"GUNICORN_FD", "LISTEN_FDS"} & os.environ.keys():
        for address in server.cfg.address:
            if isinstance(address, tuple):
                require_address(*address)
    server.counted_in = tempfile.mkdtemp(prefix="jobsite-metrics-", dir=worker_tmp_dir)
    os.chown(server.counted_in, server.cfg.uid, server.cfg.gid)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = server.counted_in


def post_fork(server: Any, worker: Any) -> None:
    """Send heartbeats while the worker loads the site, which a busy machine does not do within
    `timeout`.
    """

    def beat() -> None:
        for _ in range(LOADING_MAX):
            if worker.booted:
                return
            worker.notify()
            time.sleep(1)

    threading.Thread(target=beat, daemon=True).start()


def post_worker_init(worker: Any) -> None:
    """Keep a connection to SQLite open.

    SQLite deletes its -wal and -shm files with the last connection. On a full disk, the next reader
    could not create them again.
    """
    # the master process must not import Django
    from django.db import DatabaseError, connections

    worker.connection = connections["default"].copy()
    if worker.connection.vendor == "sqlite":
        with suppress(DatabaseError):  # the first request that needs the database reports it
            worker.connection.ensure_connection()


def on_exit(server: Any) -> None:
    shutil.rmtree(server.counted_in, ignore_errors=True)
