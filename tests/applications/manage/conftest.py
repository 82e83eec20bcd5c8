"""What tests of applications for other systems share."""

import pytest
from django.db import connection

from applications.manage import reading
from tests.vacancies.webhooks.conftest import deliver, receiver  # noqa: F401 - fixtures

# The oldest transaction of this database. The horizon of a snapshot is that of the whole server, on
# which the other test processes have long transactions.
OWN_HORIZON = """
SELECT least(min(backend_xid::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture(autouse=True)
def _own_horizon(monkeypatch):
    def horizon() -> int:
        with connection.cursor() as cursor:
            cursor.execute(OWN_HORIZON)
            return cursor.fetchone()[0]

    if connection.vendor == "postgresql":
        monkeypatch.setattr(reading, "horizon", horizon)
