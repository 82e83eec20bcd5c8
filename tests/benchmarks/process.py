"""What benchmarks within one process share. Import this first: it sets Django up."""

import os
import time
from pathlib import Path
from typing import Any

import django
from django.db import connection
from django.test import Client

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
os.environ.setdefault("RATE_LIMIT", "off")
django.setup()

LIMIT = 0.1  # seconds of CPU that a page of the admin may take


def execute(sql: str, parameters: Any = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def analyze() -> None:
    execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def cpu() -> tuple[float, float]:
    """Return the seconds of CPU of this process and of the PostgreSQL backend of its connection, or
    0. They are the scheduler's: the ticks of /proc/PID/stat are too long for one request.
    """
    own = time.process_time()
    if connection.vendor != "postgresql":
        return own, 0.0
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return own, int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def signed_in(user: Any) -> Client:
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    return client
