import pytest
from django.contrib.auth.models import User

from jobsite.accounts import roles
from jobsite.db.transactions import dry_run
from tests.applications.makers import make_user
from tests.applications.personal_data import FIRST, LAST, MAIL, NAME, make_personal_data
from tests.factories import make_brand


@pytest.fixture(scope="module")
def module_roles(django_db_setup, django_db_blocker):
    """The roles. Created once per module: each test rolls its changes back."""
    with django_db_blocker.unblock(), dry_run(True):
        roles.create()
        yield


@pytest.fixture
def jane(at):
    return make_user("jane", email="jane@example.org")


@pytest.fixture
def recruiter(db):
    return User.objects.create_superuser("recruiter")


@pytest.fixture
def acme(db):
    return make_brand("Acme")


@pytest.fixture
def beta(db):
    return make_brand("Beta")


@pytest.fixture
def person(settings, at, recruiter):
    """The values that identify a person, with another person who must not be affected."""
    settings.RATE_LIMIT = "600/min"
    make_personal_data("other", "other@example.org", "Jan", "Janssens", recruiter)
    return make_personal_data(NAME, MAIL, FIRST, LAST, recruiter)
