"""Django's PostgreSQL backend for processes that serve requests.

It reports failures of replicas to `jobsite.serving.replicas`, and does not wait for a frozen server. Django
requires the name of this module: an ENGINE is a package with a module `base`.
"""

from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base

from jobsite.serving import replicas


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a new psycopg connection. Raises psycopg.Error, at the latest after `connect_timeout`."""
        if self.alias == DEFAULT_DB_ALIAS:
            return replicas.guarded_connect(
                lambda: super(DatabaseWrapper, self).get_new_connection(conn_params)
            )
        try:
            if replicas.is_lost(self.alias):  # connecting would wait until the timeout
                raise psycopg.OperationalError("the replica is left out")
            raw = super().get_new_connection(conn_params)
        except psycopg.Error as error:
            replicas.record_failure(self.alias, error)
            raise
        wait, alias = raw.wait, self.alias

        def wait_unless_lost(generator: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return wait(replicas.cancellable(generator, lambda: replicas.is_lost(alias)), replicas.TICK)
            except psycopg.Error as error:
                replicas.record_failure(alias, error)
                raise

        # psycopg waits for the server only in this method. With a frozen replica (SIGSTOP), requests take
        # 1 s, without this override more than 25 s (docs/performance-figures.md).
        raw.wait = wait_unless_lost
        return raw
