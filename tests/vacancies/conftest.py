import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def pair() -> list[Client]:
    """Two superusers, each signed in."""
    clients = []
    for name in ("anna", "bob"):
        client = Client()
        client.force_login(User.objects.create_superuser(name))
        clients.append(client)
    return clients
