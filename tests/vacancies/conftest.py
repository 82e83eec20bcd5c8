import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.applications.makers import signed_in


@pytest.fixture
def anna(db: None) -> Client:
    """A superuser who is signed in."""
    return signed_in(User.objects.create_superuser("anna", first_name="Anna", last_name="Peeters"))


@pytest.fixture
def bob(db: None) -> Client:
    return signed_in(User.objects.create_superuser("bob", first_name="Bob", last_name="Maes"))


@pytest.fixture
def pair(anna: Client, bob: Client) -> list[Client]:
    return [anna, bob]
