import pytest
from django.db import connection

from tests.factories import make_filter
from tests.vacancies.api.test_fast_path import Site
from vacancies.choices import Keyword


@pytest.fixture
def site(wsgi, transactional_db, settings):
    """A server process with a response cache, and the views on their own."""
    from jobsite.wsgi import _bare

    settings.RESPONSE_CACHE_MB = 1
    if connection.vendor == "postgresql":  # balance() would not wait for the lock of autovacuum
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE vacancies_bucketcount SET (autovacuum_enabled = false)")
    for keyword in Keyword:
        make_filter(keyword)
    return Site(_bare)
