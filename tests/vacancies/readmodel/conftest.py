import pytest

from tests.vacancies.api.conftest import site as uncached

__all__ = ["uncached"]


@pytest.fixture
def site(uncached, settings):
    """A server process with a response cache."""
    settings.RESPONSE_CACHE_MB = 1
    return uncached
