"""No endpoint reveals a hidden vacancy (draft, scheduled, expired, unpublished, internal) in any access mode.

The hidden vacancy has a title, an option, a brand and a form that nothing else has. An outsider must get the
same bytes and headers with the hidden vacancy in the database as without it.
"""

from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.test import Client

from forms_structure import operations
from tests.factories import make_brand, make_filter, make_insider, make_recruiter, make_vacancy

pytestmark = pytest.mark.django_db

MODES = ("public", "authenticated", "network")
UNPUBLISHED = ("draft", "scheduled", "expired", "unpublished")
HIDDEN = [(kind, mode) for kind in UNPUBLISHED for mode in MODES] + [
    ("internal", "authenticated"),
    ("internal", "network"),
]
MARKER = "zyxmarker"
HIDDEN_ID, UNUSED_ID, SHOWN_ID = 4_815_162_342, 4_815_162_343, 1_001

LISTS = [
    "/v1/vacancies",
    "/v1/vacancies/hot",
    "/v1/vacancies/internal",
    "/v1/vacancies/hot/internal",
    "/v0.1/vacancies",
    "/v0.1/vacancies/internal",
    "/v1/filters",
]
QUESTIONS = [
    *LISTS,
    *(f"{path}?page[size]=1&page[number]=2" for path in LISTS if path != "/v1/filters"),
    f"/v1/vacancies?filter[search]={MARKER}",
    f"/v1/vacancies?filter[regions]={MARKER}",
    f"/v1/vacancies/hot?filter[search]={MARKER}&sort=title&fields=id,title",
    f"/v1/filters?filter[search]={MARKER}",
    f"/v1/filters?filter[regions]={MARKER}",
    f"/v1/vacancies/{HIDDEN_ID}",
    f"/v1/vacancies/{HIDDEN_ID}/form",
    f"/v1/vacancies/{HIDDEN_ID}/form/schema",
    f"/v1/vacancies/{SHOWN_ID}/form",
    f"/v1/vacancies/{SHOWN_ID}/form/schema",
]
PUBLIC_ONLY = [  # without internal vacancies in every mode, whoever requests them
    "/v1/vacancies",
    "/v1/vacancies/hot",
    "/v0.1/vacancies",
    "/v1/filters",
    f"/v1/vacancies?filter[search]={MARKER}",
    f"/v1/vacancies?filter[regions]={MARKER}",
    f"/v1/filters?filter[search]={MARKER}",
]


def hide(kind, at):
    """Create the vacancy that must not show."""
    values = {
        "draft": {"status": "draft"},
        "unpublished": {"status": "unpublished"},
        "scheduled": {"publish_from": at + timedelta(days=30)},
        "expired": {"publish_from": at - timedelta(days=30), "publish_until": at},
        "internal": {"audience": "internal"},
    }[kind]
    field = {"name": MARKER, "type": "text", "label": MARKER, "required": True, "css": "col-12"}
    section = {"title": MARKER, "description": f"<p>{MARKER}</p>", "fields": [field]}
    return make_vacancy(
        pk=HIDDEN_ID,
        title=f"{MARKER} title",
        is_hot=True,
        description=f"<p>{MARKER} text</p>",
        brand=make_brand(f"{MARKER} brand"),
        head_recruiter=make_recruiter(f"{MARKER} head", email=f"{MARKER}@example.org", is_email_public=True),
        options={"regions": [MARKER], "types": [MARKER]},
        form=operations.create(name=f"{MARKER} form", structure=[section]),
        **{"audience": "both"} | values,
    )


@pytest.fixture
def site(at, filters):
    """Visible vacancies, so that a response without the hidden one is not empty."""
    for n in range(3):
        make_vacancy(
            pk=SHOWN_ID + n,
            audience="both",
            is_hot=True,
            options={"regions": ["Antwerp"], "types": ["Nurse"]},
        )


def ask(client, question, **extra):
    """Return what an outsider can tell from the response."""
    answer = client.get(question, REMOTE_ADDR="203.0.113.9", **extra)
    return answer.status_code, answer.content, dict(answer.headers), sorted(answer.cookies)


def revealing(client, questions, kind, at):
    """Add the hidden vacancy; return the `questions` whose response it changed."""
    before = {question: ask(client, question) for question in questions}
    hide(kind, at)
    return [question for question in questions if ask(client, question) != before[question]]


@pytest.mark.parametrize(("kind", "mode"), HIDDEN)
def test_hidden_vacancy_changes_no_response(client, settings, site, at, kind, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]

    assert revealing(client, QUESTIONS, kind, at) == []


@pytest.mark.parametrize("mode", MODES)
def test_internal_vacancy_changes_no_public_response(client, settings, site, at, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(User.objects.create_user("insider"))

    assert revealing(client, PUBLIC_ONLY, "internal", at) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", UNPUBLISHED)
def test_unpublished_vacancy_changes_no_response_to_an_insider(client, settings, site, at, mode, kind):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(User.objects.create_user("insider", is_staff=True, is_superuser=True))

    assert revealing(client, QUESTIONS, kind, at) == []


def test_account_without_permission_sees_no_internal_vacancy(client, settings, site, at):
    """Applicants have accounts, and tokens, too."""
    settings.INTERNAL_ACCESS = "authenticated"
    client.force_login(User.objects.create_user("applicant"))

    assert revealing(client, QUESTIONS, "internal", at) == []


@pytest.mark.parametrize("mode", MODES)
def test_insider_sees_internal_ones(client, settings, site, at, mode):
    """The tests above would pass on a service that shows nothing."""
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(make_insider())

    hide("internal", at)

    for question in (
        "/v1/vacancies/internal",
        "/v1/vacancies/hot/internal",
        "/v0.1/vacancies/internal",
        f"/v1/vacancies/{HIDDEN_ID}",
        f"/v1/vacancies/{HIDDEN_ID}/form",
        f"/v1/vacancies/{HIDDEN_ID}/form/schema",
    ):
        status, body, headers, _ = ask(client, question)
        assert status == 200
        assert MARKER.encode() in body
        assert headers["Cache-Control"] == ("public, max-age=60" if mode == "public" else "private, no-store")


EXTRAS = (
    {},
    {"HTTP_AUTHORIZATION": "Bearer nonsense"},
    {"HTTP_AUTHORIZATION": "Bearer"},
    {"HTTP_COOKIE": f"sessionid={'a' * 32}"},
    {"HTTP_X_FORWARDED_FOR": "10.0.0.1"},
    {"HTTP_IF_NONE_MATCH": "*"},
)


@pytest.mark.parametrize(("kind", "mode"), HIDDEN)
def test_hidden_id_gets_the_response_of_an_unused_id(settings, site, at, kind, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]
    hide(kind, at)

    for extra, suffix in product(EXTRAS, ("", "/form", "/form/schema")):
        status, body, headers, cookies = ask(Client(), f"/v1/vacancies/{HIDDEN_ID}{suffix}", **extra)
        unused = ask(Client(), f"/v1/vacancies/{UNUSED_ID}{suffix}", **extra)

        assert status == 404, (extra, suffix)
        shown = body.replace(str(HIDDEN_ID).encode(), str(UNUSED_ID).encode())
        assert (status, shown, headers, cookies) == unused, (extra, suffix)


def test_filter_counts_leave_hidden_ones_out(client, site, at):
    hide("internal", at)
    make_filter("regions")

    counts = {f["keyword"]: f["options"] for f in client.get("/v1/filters").json()["data"]}

    assert counts["regions"] == [{"value": "antwerp", "label": "Antwerp", "count": 3}]


def test_recruiters_contact_data_shows_only_where_they_agree(client, at):
    hidden = {"email": f"{MARKER}@example.org", "phone": f"{MARKER} 0"}
    make_recruiter("Private", **hidden)
    make_vacancy(head_recruiter=make_recruiter("Private"), recruiters=("Private",))

    for path in LISTS:
        assert MARKER not in client.get(path).text
