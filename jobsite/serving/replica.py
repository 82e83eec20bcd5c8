"""Routes public reads to the replica (REPLICA_URL), and everything else to the primary
(DATABASE_URL).

Cluster software decides which server is behind each address, and how late a replica may be
(docs/operations/cluster.md).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

REPLICA = "replica"
# Apps whose rows may be read from a replica. Accounts and applications are always read from the
# primary.
PUBLIC = ("jobsite", "vacancies", "forms_structure")

_reading: ContextVar[str] = ContextVar("reading", default=DEFAULT_DB_ALIAS)


def is_configured() -> bool:
    return REPLICA in connections.settings


def current() -> str:
    """Return the alias that public reads of this thread use."""
    return _reading.get()


@contextmanager
def reading(alias: str) -> Iterator[None]:
    """Route public reads of this thread to `alias`."""
    token = _reading.set(alias)
    try:
        yield
    finally:
        _reading.reset(token)


class Router:
    def db_for_read(self, model: type[Model], **hints: object) -> str:
        return current() if model._meta.app_label in PUBLIC else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: object) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, obj1: Model, obj2: Model, **hints: object) -> bool:
        return True  # both aliases are copies of one database

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db != REPLICA
