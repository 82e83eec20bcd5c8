"""Django's PostgreSQL, for a process that serves: it tells `jobsite.serving.replicas` what failed on a
replica, and waits for no frozen server. The name of this module is the one that Django looks for in an ENGINE."""

from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base

from jobsite.serving import replicas


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection of psycopg; raises as it does, in time by `connect_timeout`."""
        if self.alias == DEFAULT_DB_ALIAS:
            return replicas.guarded(lambda: super(DatabaseWrapper, self).get_new_connection(conn_params))
        try:
            if replicas.is_lost(self.alias):  # it would wait for the time-out
                raise psycopg.OperationalError("the server is left out")
            raw = super().get_new_connection(conn_params)
        except psycopg.Error as error:
            replicas.note(self.alias, error)
            raise
        wait, alias = raw.wait, self.alias

        def wait_while_it_lives(generator: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return wait(replicas.watched(generator, lambda: replicas.is_lost(alias)), replicas.TICK)
            except psycopg.Error as error:
                replicas.note(alias, error)
                raise

        raw.wait = wait_while_it_lives  # what all of psycopg waits with
        return raw
