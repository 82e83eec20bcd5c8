"""Nothing hidden shows: every endpoint x (draft, scheduled, expired, withdrawn, internal) x access mode.

Each hidden vacancy carries a title, an option, a brand and a form that nothing else has. An answer given
to an outsider with the hidden vacancy in the database must be, to the byte and the header, the answer
without it.
"""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from forms_structure import operations
from tests.factories import make_brand, make_filter, make_insider, make_recruiter, make_vacancy

pytestmark = pytest.mark.django_db

MODES = ("public", "authenticated", "network")
UNPUBLISHED = ("draft", "scheduled", "expired", "withdrawn")
HIDDEN = [(kind, mode) for kind in UNPUBLISHED for mode in MODES] + [
    ("internal", "authenticated"),
    ("internal", "network"),
]
MARKER = "zyxmarker"
HIDDEN_ID, SHOWN_ID = 4_815_162_342, 1_001

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
PUBLIC_ONLY = [  # never contains internal vacancies, for any client in any mode
    "/v1/vacancies",
    "/v1/vacancies/hot",
    "/v0.1/vacancies",
    "/v1/filters",
    f"/v1/vacancies?filter[search]={MARKER}",
    f"/v1/vacancies?filter[regions]={MARKER}",
    f"/v1/filters?filter[search]={MARKER}",
]


def hide(kind, at):
    """Create the hidden vacancy."""
    values = {
        "draft": {"status": "draft"},
        "withdrawn": {"status": "withdrawn"},
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
    """Visible vacancies, so that the responses are not empty."""
    for n in range(3):
        make_vacancy(
            pk=SHOWN_ID + n,
            audience="both",
            is_hot=True,
            options={"regions": ["Antwerp"], "types": ["Nurse"]},
        )


def ask(client, question, **extra):
    """Return the parts of the response that an outsider can compare."""
    answer = client.get(question, REMOTE_ADDR="203.0.113.9", **extra)
    return answer.status_code, answer.content, dict(answer.headers), sorted(answer.cookies)


@pytest.mark.parametrize(("kind", "mode"), HIDDEN)
@pytest.mark.parametrize("question", QUESTIONS)
def test_hidden_vacancy_does_not_change_any_response(client, settings, site, at, kind, mode, question):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]
    before = ask(client, question)

    hide(kind, at)

    assert ask(client, question) == before


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", PUBLIC_ONLY)
def test_internal_vacancy_is_never_in_a_public_response(client, settings, site, at, mode, question):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(User.objects.create_user("insider"))
    before = ask(client, question)

    hide("internal", at)

    assert ask(client, question) == before


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", UNPUBLISHED)
@pytest.mark.parametrize("question", QUESTIONS)
def test_unpublished_vacancy_is_hidden_from_insiders(client, settings, site, at, mode, kind, question):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(User.objects.create_user("insider", is_staff=True, is_superuser=True))
    before = ask(client, question)

    hide(kind, at)

    assert ask(client, question) == before


@pytest.mark.parametrize("question", QUESTIONS)
def test_account_without_permission_is_an_outsider(client, settings, site, at, question):
    """Applicants have accounts and tokens too."""
    settings.INTERNAL_ACCESS = "authenticated"
    client.force_login(User.objects.create_user("applicant"))
    before = ask(client, question)

    hide("internal", at)

    assert ask(client, question) == before


@pytest.mark.parametrize("mode", MODES)
def test_insider_sees_internal_vacancies(client, settings, site, at, mode):
    """Counterpart of the tests above, which a service without any vacancies would pass."""
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


@pytest.mark.parametrize(("kind", "mode"), HIDDEN)
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"HTTP_AUTHORIZATION": "Bearer nonsense"},
        {"HTTP_AUTHORIZATION": "Bearer"},
        {"HTTP_COOKIE": f"sessionid={'a' * 32}"},
        {"HTTP_X_FORWARDED_FOR": "10.0.0.1"},
        {"HTTP_IF_NONE_MATCH": "*"},
    ],
)
@pytest.mark.parametrize("suffix", ["", "/form", "/form/schema"])
def test_hidden_id_returns_the_same_response_as_an_unknown_id(
    client, settings, site, at, kind, mode, extra, suffix
):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]
    hide(kind, at)

    status, body, headers, cookies = ask(client, f"/v1/vacancies/{HIDDEN_ID}{suffix}", **extra)
    twin_status, twin_body, twin_headers, twin_cookies = ask(
        client, f"/v1/vacancies/4815162343{suffix}", **extra
    )

    assert (status, headers, cookies) == (twin_status, twin_headers, twin_cookies)
    assert body == twin_body.replace(b"4815162343", str(HIDDEN_ID).encode())
    assert status == 404


def test_filter_counts_exclude_hidden_vacancies(client, site, at):
    hide("internal", at)
    make_filter("regions")

    counts = {f["keyword"]: f["options"] for f in client.get("/v1/filters").json()["data"]}

    assert counts["regions"] == [{"value": "antwerp", "label": "Antwerp", "count": 3}]


def test_recruiter_contact_data_shows_only_if_public(client, at):
    hidden = {"email": f"{MARKER}@example.org", "phone": f"{MARKER} 0"}
    make_recruiter("Private", **hidden)
    make_vacancy(head_recruiter=make_recruiter("Private"), recruiters=("Private",))

    for path in LISTS:
        assert MARKER not in client.get(path).text
