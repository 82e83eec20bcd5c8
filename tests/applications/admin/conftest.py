"""A brand with a recruiter, an application to it, and one to another brand."""

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine as clock
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client

from applications.models import Application, Stage
from jobsite.db.transactions import dry_run
from tests.applications.makers import make_application, make_stage
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy

FOREIGN = "Zyxforeign"


def group(name: str) -> Group:
    return Group.objects.get(name=name)


def colleague(name: str, role: str = "Recruiter", *brands: Any, **values: Any) -> User:
    """Return a new user with `role`, for `brands`."""
    user = User.objects.create_user(name, f"{name}@example.org", "x", is_staff=True, **values)
    if role:
        user.groups.add(group(role))
    user.brands.set(brands)
    return user


def staff(name: str, role: str = "Recruiter", brands: Any = ()) -> Client:
    """Return a client of a new user with `role`, for `brands`."""
    client = Client()
    client.force_login(colleague(name, role, *brands))
    return client


def apply(
    vacancy: Any, given: str = "Mia", address: str = "mia@example.org", **columns: Any
) -> Application:
    """Create an application that came through a form, without an account."""
    columns = {"given_name": given, "email": address, "email_folded": address} | columns
    application = make_application(vacancy=vacancy, **columns)
    Application.objects.filter(pk=application.pk).update(user=None)
    return Application.objects.get(pk=application.pk)


def build() -> SimpleNamespace:
    Stage.objects.all().delete()  # those of the migration
    brand, other = make_brand("Acme"), make_brand("Other")
    new = make_stage("New", en="Received")
    rejected = make_stage("Rejected", en="Not selected", embargo_days=2)
    Stage.objects.filter(pk=rejected.pk).update(kind=Stage.Kind.REJECTED)
    own = apply(make_vacancy(title="Nurse", brand=brand), stage=new, reference="7K3QX9WD")
    foreign = apply(make_vacancy(title=f"{FOREIGN} job", brand=other), FOREIGN, stage=new)
    return SimpleNamespace(
        brand=brand,
        other=other,
        new=new,
        rejected=rejected,
        own=own,
        foreign=foreign,
        session=staff("anna", brands=[brand]).cookies[settings.SESSION_COOKIE_NAME].value,
    )


def copy_of(rows: SimpleNamespace) -> SimpleNamespace:
    """Return copies of `rows`, which a test may change, with a new client of Anna."""
    office = deepcopy(rows)
    office.anna = Client()
    office.anna.cookies[settings.SESSION_COOKIE_NAME] = rows.session
    return office


@pytest.fixture(scope="module")
def office_rows(module_roles, django_db_blocker):
    """Created once per module, as `module_roles`. All tests of the module see these rows."""
    with django_db_blocker.unblock(), dry_run(True):
        with clock.travel(NOW, tick=False):
            rows = build()
        yield rows


@pytest.fixture
def office(office_rows: SimpleNamespace, db: Any, at: Any) -> SimpleNamespace:
    return copy_of(office_rows)
