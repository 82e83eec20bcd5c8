"""A brand with a recruiter, an application to it, and one to another brand."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from applications.models import Application, Stage
from jobsite.admin import roles
from tests.applications.makers import make_application, make_stage
from tests.factories import make_brand, make_vacancy

FOREIGN = "Zyxforeign"


def staff(name: str, role: str = "Recruiter", brands: Any = ()) -> Client:
    """Return a client of a new user with `role`, for `brands`."""
    user = User.objects.create_user(name, f"{name}@example.org", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    user.brands.set(brands)
    client = Client()
    client.force_login(user)
    return client


def apply(vacancy: Any, given: str = "Mia", address: str = "mia@example.org", **columns: Any) -> Application:
    """Create an application that came through a form, without an account."""
    columns = {"given_name": given, "email": address, "email_folded": address} | columns
    application = make_application(vacancy=vacancy, **columns)
    Application.objects.filter(pk=application.pk).update(user=None)
    return Application.objects.get(pk=application.pk)


@pytest.fixture
def office(db: Any, at: Any) -> SimpleNamespace:
    roles.create()
    Stage.objects.all().delete()  # those of the migration; a flush after a live-server test deletes them too
    brand, other = make_brand("Acme"), make_brand("Other")
    new = make_stage("New", en="Received")
    rejected = make_stage("Rejected", en="Not selected", embargo_days=2)
    Stage.objects.filter(pk=rejected.pk).update(kind=Stage.Kind.REJECTED)
    own = apply(make_vacancy(title="Nurse", brand=brand), stage=new, reference="7K3QX9WD")
    foreign = apply(make_vacancy(title=f"{FOREIGN} job", brand=other), FOREIGN, stage=new)
    return SimpleNamespace(
        brand=brand, other=other, new=new, rejected=rejected, own=own, foreign=foreign,
        anna=staff("anna", brands=[brand]),
    )  # fmt: skip
