"""Django's PostgreSQL backend for processes that serve requests: it does not wait for a server that
hangs.

A frozen server keeps its connections open and never responds. `statement_timeout` does not help,
because the server itself enforces it. In a cluster, HAProxy closes the connections. This module is
for a server without HAProxy in front of it. Django requires its name: an ENGINE is a package with a
module `base`.
"""

from functools import partial
from time import monotonic
from typing import Any

import psycopg
from django.db.backends.postgresql import base

SILENCE = 2.0  # seconds without a response after which a new connection is tried
RETRY_AFTER = 1.0  # seconds without connections to a server that did not respond

_unresponsive_until: dict[str, float] = {}  # by alias


class DatabaseWrapper(base.DatabaseWrapper):
    # Seconds to wait for a response, for writes that may fail. None: as long as the server works.
    patience: float | None = None

    def get_new_connection(self, conn_params: dict[str, object]) -> Any:
        """Return a new psycopg connection.
        Raises psycopg.Error, at the latest after `connect_timeout`.
        """
        if self.patience:
            raise psycopg.OperationalError(
                "a new connection could take longer than a write that may fail"
            )
        if monotonic() < _unresponsive_until.get(self.alias, 0.0):
            raise psycopg.OperationalError("the server did not respond a moment ago")
        try:
            raw = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout:
            _unresponsive_until[self.alias] = monotonic() + RETRY_AFTER
            raise
        raw.wait = partial(self._wait, raw)  # psycopg waits for the server only in this method
        return raw

    def _wait(self, raw: Any, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Run psycopg's protocol `generator`.
        Raises psycopg.OperationalError if the server hangs.
        """
        limits = {"timeout": self.patience or SILENCE, **kwargs}
        while True:
            try:
                return psycopg.Connection.wait(raw, generator, *args, **limits)
            except psycopg.errors._WaitTimeout:
                if "timeout" in kwargs:
                    raise
                if self.patience:
                    raw.close()
                    raise psycopg.OperationalError("no response in time") from None
                self._require_response(raw)  # the statement is slow, or the server hangs

    def _require_response(self, raw: Any) -> None:
        """Close the connection `raw` if its server does not accept another one in time."""
        server = {"host": raw.info.host, "port": raw.info.port, "target_session_attrs": "any"}
        try:
            psycopg.connect(**{**self.get_connection_params(), **server}).close()
        except psycopg.errors.ConnectionTimeout:
            _unresponsive_until[self.alias] = monotonic() + RETRY_AFTER
            raw.close()
            raise psycopg.OperationalError("the server does not respond") from None
        except psycopg.Error:
            pass  # it responded
