"""Connection settings. The settings import this module: no Django here."""

from typing import Any

DatabaseSettings = dict[str, Any]  # of one database, as in `settings.DATABASES`
CONNECT_TIMEOUT = 2  # seconds
LOCK_TIMEOUT_MAX = 2000  # milliseconds: a migration that blocks a table causes errors, not a queue
JOB_LOCK_TIMEOUT, JOB_STATEMENT_TIMEOUT = 5_000, 120_000  # milliseconds, of `manage.py deliver`


def postgresql(
    database: DatabaseSettings, *, pool: str = "", statement_timeout: int = 0
) -> DatabaseSettings:
    """Return `database`, as parsed from a URL, with our defaults. Options in the URL take
    precedence.

    `pool` is "", the maximum number of pooled connections, or "pgbouncer"; `statement_timeout` is
    in seconds, 0 for none.
    """
    options: dict[str, object] = {
        "connect_timeout": CONNECT_TIMEOUT,
        # Detect a peer that disappeared: within a minute while idle, within ten seconds during a
        # query.
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }
    if pool != "pgbouncer":  # it supports neither prepared statements nor session settings
        options["prepare_threshold"] = 2**31  # prepare only the statements that request it
        # And plan them once.
        session: dict[str, str | int] = {"plan_cache_mode": "force_generic_plan"}
        if statement_timeout:
            lock_timeout = min(statement_timeout * 333, LOCK_TIMEOUT_MAX)
            session |= {"statement_timeout": statement_timeout * 1000, "lock_timeout": lock_timeout}
        options["options"] = " ".join(f"-c {name}={value}" for name, value in session.items())
    if pool.isdecimal():
        options["pool"] = {"min_size": 1, "max_size": int(pool), "timeout": 2}
    return {
        "CONN_MAX_AGE": 0 if "pool" in options else None,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pool == "pgbouncer",
        **database,
        "OPTIONS": options | database.get("OPTIONS", {}),
    }


def limit(connections: Any) -> None:
    """Give this thread a connection of its own, which the jobs of the dispatcher use: no statement
    waits for ever. SQLite has its timeout for locks already; pgbouncer needs limits of the role
    (mail.md).
    """
    own = connections["default"].copy()
    options = own.settings_dict["OPTIONS"]
    options.pop("pool", None)
    if own.vendor == "sqlite":
        # A commit survives a power failure: an email that was sent is not sent again.
        options["init_command"] = options.get("init_command", "") + "; PRAGMA synchronous=FULL"
    elif "options" in options:
        limits = f"-c lock_timeout={JOB_LOCK_TIMEOUT} -c statement_timeout={JOB_STATEMENT_TIMEOUT}"
        options["options"] += f" {limits}"
    connections["default"] = own
