"""The stress test: writers that commit and roll back, and readers that check every response of a
site.

    python -m tests.chaos.stress [--database sqlite|postgresql] [--minutes 10] [--vacancies 300]

"postgresql" starts a server. Before a writer changes a row, it marks the row as changing in memory
that all processes share. When the commit has returned, it records the new values there. A response
must show exactly these values of each row that did not change during the request. Of a row that
changed, it must show nothing older than the last commit before the request, and nothing that was
rolled back (NEVER). A request with the tag of the same body must get 304. Every few seconds the
writers pause, and responses are compared with those of a plain implementation, and the tables of
the read model with the vacancies.

Meanwhile the read model is maintained with small buckets, which are divided and merged, and is
rebuilt now and then. There are two nodes. The clock of the second one steps by up to 400 seconds,
and its responses must be right for that time.

Prints JSON. Exit code 1: a response was wrong.
"""

import os
import sys
from contextlib import ExitStack

from tests import servers
from tests.chaos.program import parser


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--minutes", type=float, default=10)
    made.add_argument("--vacancies", type=int, default=300)
    made.add_argument(
        "--server",
        choices=("sync", "gthread"),
        default="sync",
        help="of each node: 2 workers, or 2 x 4 threads",
    )
    arguments = made.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(servers.folder_with_logs())
        url = f"sqlite:///{folder / 'stress.sqlite3'}"
        if arguments.database == "postgresql":
            url = stack.enter_context(servers.Postgres(folder / "pg", shared_buffers="256MB")).url
        env = {
            "DATABASE_URL": url,
            "SECRET_KEY": "only-for-stress-tests-" * 4,
            "ALLOWED_HOSTS": "127.0.0.1",
            "PUBLIC_BASE_URL": "http://127.0.0.1",  # both nodes return the same links
            "RATE_LIMIT": "off",
            "LOG_FORMAT": "text",
            "LOG_REQUESTS": "off",
        }
        os.environ.update(env)
        os.chdir(servers.ROOT)
        from tests.chaos.stress.run import run

        return int(run(arguments, folder, env, stack))


if __name__ == "__main__":
    sys.exit(main())
