"""An integration of every brand, and a brand Acme."""

from typing import Any

import pytest

from tests.factories import make_brand, make_recruiter
from tests.vacancies.manage.client import Api, make_integration


@pytest.fixture
def body() -> dict[str, Any]:
    """A vacancy that can be public."""
    make_recruiter("An Peeters", email="an@acme.example")
    return {
        "title": "Welder",
        "description": "<p>You weld.</p>",
        "head_recruiter": {"email": "AN@acme.example"},
        "publication": {"state": "public"},
    }


@pytest.fixture
def api(db) -> Api:
    make_brand("Acme")
    return Api(make_integration())
