"""Public reads skip middlewares. Their responses are the same without them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from jobsite.api.caching import REQUEST_TIME
from tests.factories import make_vacancy
from tests.jobsite.api.paths import PATHS
from tests.wsgi import ask

pytestmark = pytest.mark.django_db
WRONG = ["/v1/vacancies/9999", "/v1/nothing", "/v1/vacancies/", "/v1/vacancies?page=2", "/v1/jobs"]


@pytest.fixture
def paths(wsgi, filters):
    make_vacancy(pk=7, audience="both", is_hot=True, options={"regions": ["Ghent"]})
    single = "/v1/vacancies/7"
    return [
        *PATHS,
        *WRONG,
        single,
        f"{single}/form",
        f"{single}/form/schema",
        f"{single}?preview=x",
    ]


def assert_same(paths, **headers):
    from jobsite.wsgi import _pages, _reads  # importing it sets the serving process up

    now = timezone.now()
    for path in paths:
        one, other = (
            ask(handler, path, **headers, **{REQUEST_TIME: now}) for handler in (_reads, _pages)
        )
        assert one == other, path


@pytest.mark.slow("many cases")
@pytest.mark.each_database
@pytest.mark.parametrize("access", ["public", "authenticated", "network"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"HTTP_HOST": "elsewhere.example"},
        {"HTTP_ORIGIN": "https://a.example", "HTTP_ACCEPT_LANGUAGE": "fr"},
        {"HTTP_COOKIE": "sessionid=x; csrftoken=y; messages=z"},
        {"HTTP_AUTHORIZATION": "Bearer x"},
        {"HTTP_ACCEPT": "text/html"},
    ],
    ids=["plain", "host", "origin", "cookies", "token", "accept"],
)
def test_responses_are_the_same(paths, settings, access, headers):
    settings.INTERNAL_ACCESS = access
    assert_same(paths, **headers)


def test_responses_to_staff_are_the_same(paths, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    client = Client()
    client.force_login(User.objects.create_user("anna", is_staff=True))
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    assert_same(paths, HTTP_COOKIE=cookie)


def test_middlewares_that_are_skipped_are_installed(settings):
    assert set(settings.PAGE_MIDDLEWARE) < set(settings.MIDDLEWARE)
