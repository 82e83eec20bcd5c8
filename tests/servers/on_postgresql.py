"""Run a command with a PostgreSQL server of its own: `python -m tests.servers.on_postgresql WORDS`.

The server listens on loopback, has its data in a temporary folder, and ends with the command.
"""

import os
import subprocess
import sys

from tests.servers.databases import POSTGRES, Postgres
from tests.servers.process import folder_with_logs


def main(words: list[str]) -> int:
    if POSTGRES is None:
        sys.exit("PostgreSQL is not installed. On Debian and Ubuntu: apt install postgresql")
    with folder_with_logs() as place, Postgres(place / "data", shared_buffers="128MB") as server:
        server.sql("CREATE DATABASE jobsite")
        server.database = "jobsite"
        return subprocess.run(words, env={**os.environ, "DATABASE_URL": server.url}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
