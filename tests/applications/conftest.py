import pytest

from tests.applications.makers import make_user


@pytest.fixture
def jane(at):
    return make_user("jane", email="jane@example.org")
