"""Every search box limits the words of a search: each is a condition on every row."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory

from jobsite.text.search import LENGTH_MAX, WORDS_MAX
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
MANY = " ".join(f"w{n}" for n in range(1500))
REFUSAL = (
    f"Search for at most {WORDS_MAX} words and {LENGTH_MAX} characters. This search has 1500 "
    f"words and {len(MANY)} characters."
)
ADDRESS = {"app_label": "vacancies", "model_name": "vacancy", "field_name": "brand"}


def test_every_list_refuses_a_search_of_many_words() -> None:
    said = {}
    request: Any = RequestFactory().get("/")
    request.user = User(is_active=True, is_superuser=True)
    for model, page in admin.site._registry.items():
        if not page.search_fields:
            continue
        rows = model._default_manager.all()
        page.find(request, rows, "w " * WORDS_MAX)
        try:
            page.find(request, rows, MANY)
        except ValidationError as error:
            said[model._meta.label] = error.messages
        else:
            said[model._meta.label] = []
    assert {name: messages for name, messages in said.items() if messages != [REFUSAL]} == {}
    assert len(said) > 12


def test_a_list_says_that_the_words_are_too_many(admin_client: Client) -> None:
    response = admin_client.get("/admin/applications/application/", {"q": MANY})

    assert messages_of(response) == [REFUSAL]
    assert list(response.context["cl"].result_list) == []


def test_words_with_a_hyphen_are_several(admin_client: Client) -> None:
    many = "-".join(f"w{n}" for n in range(WORDS_MAX + 1))
    for path in ("/admin/vacancies/vacancy/", "/admin/applications/application/"):
        assert "This search has 21 words" in messages_of(admin_client.get(path, {"q": many}))[0], (
            path
        )
    assert "This search has 21 words" in admin_client.get("/admin/search/", {"q": many}).text


def test_a_field_that_searches_finds_nothing(admin_client: Client) -> None:
    """Without a message, which the next page would show."""
    response = admin_client.get(f"/admin/autocomplete/?{urlencode(ADDRESS | {'term': MANY})}")

    assert response.json() == {"results": [], "pagination": {"more": False}}
    assert messages_of(response) == []


def test_the_search_of_everything_says_that_the_words_are_too_many(admin_client: Client) -> None:
    for part in ("", "results"):
        response = admin_client.get("/admin/search/", {"q": MANY, "part": part})
        assert REFUSAL in response.text
        assert response.context["groups"] == []
