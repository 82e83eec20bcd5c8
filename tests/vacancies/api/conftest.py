import pytest
from django.db import connection

from tests.factories import make_filter
from tests.vacancies.api.site import Site
from vacancies.choices import Keyword


@pytest.fixture
def site(wsgi, transactional_db):
    """A server process without a response cache."""
    if connection.vendor == "postgresql":  # balance() would not wait for the lock of autovacuum
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE vacancies_bucketcount SET (autovacuum_enabled = false)")
    for keyword in Keyword:
        make_filter(keyword)
    return Site()
