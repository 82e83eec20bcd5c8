"""Connection settings for PostgreSQL. The settings import this module: no Django here."""

from typing import Any

DatabaseSettings = dict[str, Any]  # of one database, as in `settings.DATABASES`
CONNECT_TIMEOUT = 2  # seconds
LOCK_TIMEOUT_MAX = 2000  # milliseconds: a migration that blocks a table causes errors, not a queue


def postgresql(database: DatabaseSettings, *, pool: str = "", statement_timeout: int = 0) -> DatabaseSettings:
    """Return `database`, as parsed from a URL, with our defaults. Options in the URL take precedence.

    `pool` is "", the maximum number of pooled connections, or "pgbouncer"; `statement_timeout` is in
    seconds, 0 for none.
    """
    options: dict[str, object] = {
        "connect_timeout": CONNECT_TIMEOUT,
        # Detect a peer that disappeared: within a minute while idle, within ten seconds during a query.
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }
    if pool != "pgbouncer":  # it supports neither prepared statements nor session settings
        options["prepare_threshold"] = 2**31  # prepare only the statements that request it
        session: dict[str, str | int] = {"plan_cache_mode": "force_generic_plan"}  # and plan them once
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
