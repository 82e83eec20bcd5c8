"""No endpoint reveals a hidden vacancy (draft, scheduled, expired, unpublished, internal) in any
access mode.

The hidden vacancy has texts, options, a brand and a form that nothing else has
(tests/hostile/content.py). An outsider must get the same bytes and headers with the hidden vacancy
in the database as without it.
"""

import re
from itertools import cycle, product

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from applications.mail import outbox
from applications.mail.receipt import queue_receipt
from applications.mail.templates import email_from
from applications.models import MailTemplate, Message
from forms_structure import operations
from tests.applications.makers import bearer, make_application, make_submission, make_token
from tests.chaos import oracle
from tests.factories import make_insider, make_recruiter, make_text, make_vacancy
from tests.forms_structure.strategies import section, text_field
from tests.hostile.content import ABSENT, HIDDEN, HIDDEN_WORD, INTERNAL, hide
from vacancies.access.previews import token_for
from vacancies.models import Requisition, Vacancy

pytestmark = pytest.mark.django_db

MODES = ("public", "authenticated", "network")
UNPUBLISHED = [kind for kind in HIDDEN if kind != "internal"]
# Each kind in one mode and each mode with two kinds: visibility and access are checked one after
# the other.
PAIRS = list(zip(UNPUBLISHED, cycle(MODES)))
KINDS_BY_MODE = [*PAIRS, ("internal", "authenticated"), ("internal", "network")]
SHOWN_ID = 1_001
LISTS = [*oracle.LISTS, "/v1/filters"]


OF_HIDDEN = (
    "filter[country]=IS",
    "filter[language]=is",
    "filter[work_place]=remote",
    "filter[near]=64,-21,9",
    "filter[employment_types]=VOLUNTEER",
)


def targets(kind):
    """Requests whose responses might reveal the hidden vacancy."""
    single, shown = f"/v1/vacancies/{HIDDEN[kind]}", f"/v1/vacancies/{SHOWN_ID}"
    option = f"{HIDDEN_WORD}-{kind}"
    return [
        *LISTS,
        *(f"{path}?page[size]=1&page[number]=2" for path in oracle.LISTS),
        f"/v1/vacancies?filter[search]={HIDDEN_WORD}",
        f"/v1/vacancies?filter[regions]={option}",
        f"/v1/vacancies/hot?filter[search]={HIDDEN_WORD}&sort=title&fields=id,title",
        f"/v1/filters?filter[search]={HIDDEN_WORD}",
        f"/v1/filters?filter[regions]={option}",
        f"/v1/vacancies?filter[brand]={option}-brand&sort=closes_at",
        *(f"{path}?{query}" for path in ("/v1/vacancies", "/v1/filters") for query in OF_HIDDEN),
        *(
            f"{path}{suffix}"
            for path in (single, shown)
            for suffix in ("", "/form", "/form/schema")
        ),
    ]


def public_targets(kind):
    """Requests whose responses must not reveal an internal vacancy to anyone, in any mode."""
    public = (*oracle.PUBLIC_LISTS, "/v1/filters")
    return [target for target in targets(kind) if target.partition("?")[0] in public]


@pytest.fixture
def site(at, filters):
    """Visible vacancies, so that a response without the hidden one is not empty."""
    for n in range(3):
        options = {"regions": ["Antwerp"], "types": ["Nurse"]}
        make_vacancy(pk=SHOWN_ID + n, audience="both", is_hot=True, options=options)


def ask(client, target, method="GET", **headers):
    """Return what an outsider can tell from the response."""
    response = client.generic(method, target, headers=headers, REMOTE_ADDR="203.0.113.9")
    return response.status_code, response.content, dict(response.headers), sorted(response.cookies)


def revealing(client, targets, kind, at):
    """Create the hidden vacancy; return the `targets` whose response it changed."""
    before = {target: ask(client, target) for target in targets}
    hide(kind, at)
    return [target for target in targets if ask(client, target) != before[target]]


@pytest.mark.slow("every endpoint, twice")
@pytest.mark.parametrize(("kind", "mode"), KINDS_BY_MODE)
def test_hidden_vacancy_changes_no_response(client, settings, site, at, kind, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]

    assert revealing(client, targets(kind), kind, at) == []


LANGUAGE = "language=fr"


def texts_targets():
    paths = [*LISTS, *(f"/v1/vacancies/{SHOWN_ID}{rest}" for rest in ("", "/form", "/form/schema"))]
    words = [f"/v1/vacancies?filter[search]={word}" for word in (HIDDEN_WORD, "hidden")]
    found = [*paths, *words, "/v1/vacancies?filter[language]=fr", f"/v1/vacancies/{SHOWN_ID}"]
    found += ["/sitemap-1.xml", "/jobs.atom", "/feeds/indeed.xml", "/jobs", "/fr/jobs"]
    found += [
        f"/jobs?filter[search]={HIDDEN_WORD}",
        f"/fr/jobs/{SHOWN_ID}",
        f"/vacancies/{SHOWN_ID}",
    ]
    v1 = [path for path in found if path.startswith("/v1/")]
    return [*found, *(f"{path}{'&' if '?' in path else '?'}{LANGUAGE}" for path in v1)]


@pytest.mark.slow("many requests")
def test_text_that_is_not_ready_changes_no_response(client, settings, site, at):
    settings.TEXT_LANGUAGES, settings.CAREER_SITE = ["nl", "fr"], True
    insider = Client()
    insider.force_login(make_insider())
    before = {target: ask(client, target) for target in texts_targets()}
    word = f"{HIDDEN_WORD} <p>hidden</p>"
    text = make_text(
        Vacancy.objects.get(pk=SHOWN_ID), "fr", is_ready=False, title=word, profile=word
    )
    for each in (client, insider):
        assert [t for t in before if ask(each, t)[:2] != before[t][:2]] == []
        for query in ("", f"?{LANGUAGE}"):
            assert HIDDEN_WORD.encode() not in ask(each, f"/v1/vacancies/changes{query}")[1]
    text.is_ready = True
    text.save()
    changed = [target for target in before if ask(client, target)[:2] != before[target][:2]]
    assert f"/v1/vacancies/{SHOWN_ID}?{LANGUAGE}" in changed
    settings.TEXT_LANGUAGES = ["nl"]
    shown = [target for target in before if LANGUAGE not in target and "language" not in target]
    assert [target for target in shown if ask(client, target)[:2] != before[target][:2]] == []


@pytest.mark.slow("many requests")
@pytest.mark.parametrize("mode", MODES)
def test_internal_vacancy_changes_no_public_response(client, settings, site, at, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(User.objects.create_user("insider"))

    assert revealing(client, public_targets("internal"), "internal", at) == []


@pytest.mark.slow("every endpoint, twice")
@pytest.mark.parametrize(("kind", "mode"), PAIRS)
def test_unpublished_vacancy_changes_no_response_to_an_insider(
    client, settings, site, at, kind, mode
):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(User.objects.create_user("insider", is_staff=True, is_superuser=True))

    assert revealing(client, targets(kind), kind, at) == []


@pytest.mark.slow("many requests")
def test_account_without_permission_sees_no_internal_vacancy(client, settings, site, at):
    """Applicants have accounts and tokens too."""
    settings.INTERNAL_ACCESS = "authenticated"
    client.force_login(User.objects.create_user("applicant"))

    assert revealing(client, targets("internal"), "internal", at) == []


@pytest.mark.parametrize("mode", MODES)
def test_insider_sees_internal_vacancies(client, settings, site, at, mode):
    """The tests above would pass on a service that shows nothing."""
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    client.force_login(make_insider())

    hide("internal", at)

    single = f"/v1/vacancies/{HIDDEN['internal']}"
    for target in (*oracle.INTERNAL_LISTS, single, f"{single}/form", f"{single}/form/schema"):
        status, body, headers, _ = ask(client, target)
        assert status == 200
        assert HIDDEN_WORD.encode() in body
        assert headers["Cache-Control"] == (
            "public, max-age=60" if mode == "public" else "private, no-store"
        )
        assert ("ETag" in headers) == (mode == "public")


HEADERS = (
    {"If-None-Match": "*"},
    {"If-Match": "*"},
    {"If-Match": '"x"'},
    {"Range": "bytes=0-0"},
    {"If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
    {"Authorization": "Bearer nonsense"},
    {"Authorization": "Bearer"},
    {"Cookie": f"sessionid={'a' * 32}"},
    {"X-Forwarded-For": "10.0.0.1"},
    {"Accept": "text/html"},
    {"Accept-Language": "nl"},
    {"Accept-Encoding": "gzip"},
    {"Origin": "https://evil.example"},
    {"Content-Type": "a/b; charset=rot13"},
    {"Cache-Control": "no-cache"},
)
SUFFIXES = (
    "",
    "/form",
    "/form/schema",
    "/x",
    ".json",
    "?fields=id",
    "?preview=x",
    "/form?preview=x",
)
REQUESTS = [
    *product(("GET", "HEAD", "OPTIONS", "POST"), SUFFIXES, ({},)),
    *product(("GET",), ("", "/form"), HEADERS),
]


@pytest.mark.slow("every endpoint, twice")
@pytest.mark.parametrize(("kind", "mode"), KINDS_BY_MODE)
def test_hidden_id_gets_the_response_of_an_unused_id(settings, site, at, kind, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]
    hide(kind, at)
    applicant = bearer(make_token(User.objects.create_user("applicant")))

    for method, suffix, headers in (*REQUESTS, ("GET", "", applicant), ("GET", "/form", applicant)):
        hidden, unused = (
            ask(Client(), f"/v1/vacancies/{pk}{suffix}", method, **headers)
            for pk in (HIDDEN[kind], ABSENT)
        )
        status, body, *rest = hidden
        shown = body.replace(str(HIDDEN[kind]).encode(), str(ABSENT).encode())
        assert (status, shown, *rest) == unused, (method, suffix, headers)
        assert status == 404 or "?" in suffix or (method, headers) != ("GET", {}), suffix


def test_recruiter_contact_data_shows_only_if_public(client, at):
    hidden = {"email": f"{HIDDEN_WORD}@example.org", "phone": f"{HIDDEN_WORD} 0"}
    make_recruiter("Private", **hidden)
    make_vacancy(head_recruiter=make_recruiter("Private"), recruiters=("Private",))

    for path in LISTS:
        assert HIDDEN_WORD not in client.get(path).text


@pytest.mark.slow("many requests")
def test_pay_that_is_not_public_shows_nowhere(client, settings, site):
    settings.APPLY_PAGES = True
    mail = text_field("mail", type="email", role="email", required=True)
    pay = {"pay_min": "7777.77", "pay_max": 8888, "pay_currency": "EUR", "pay_period": "month"}
    vacancy = make_vacancy(
        is_hot=True,
        audience="both",
        form=operations.create(name="Own", structure=[section(mail)]),
        **pay,
        pay_note=HIDDEN_WORD,
        options={"regions": ["Ghent"]},
    )
    applicant = make_application(vacancy=vacancy).user
    tokens = bearer(make_token(applicant))
    client.force_login(applicant)
    single, preview = f"/v1/vacancies/{vacancy.pk}", token_for(vacancy.pk)
    paths = {
        *LISTS,
        single,
        f"{single}/form",
        f"{single}/form/schema",
        f"{single}?preview={preview}",
    }
    paths |= {"/v1/vacancies?fields=pay", "/v1/user/applications", "/account/", "/openapi.json"}
    paths |= {f"/vacancies/{vacancy.pk}", f"/preview/{preview}", f"/apply/{vacancy.pk}"}

    def showing():
        answers = {
            path: client.get(path, headers=tokens if "user" in path else {}) for path in paths
        }
        assert {answer.status_code for answer in answers.values()} == {200}
        text = rf"7\D?777|8\D?888|{HIDDEN_WORD}"
        return {path for path, answer in answers.items() if re.search(text, answer.text)}

    assert f"/vacancies/{vacancy.pk}" in showing()
    assert "/v1/user/applications" in showing()
    Vacancy.objects.filter(pk=vacancy.pk).update(is_pay_public=False)
    assert showing() == set()
    assert client.get(f"/v1/vacancies?filter[search]={HIDDEN_WORD}").json()["meta"]["total"] == 0


@pytest.mark.slow("many cases")
def test_internal_data_shows_nowhere(client, settings, site):
    """Also not to the applicant of a vacancy that everybody sees, in an email, or in the own
    download.
    """
    settings.APPLY_PAGES = True
    mail = text_field("mail", type="email", role="email", required=True)
    form = operations.create(name="Own", structure=[section(mail)])
    vacancy = make_vacancy(pk=SHOWN_ID + 9, is_hot=True, audience="both", form=form)
    Requisition.objects.create(vacancy=vacancy, **INTERNAL)
    application = make_application(vacancy=vacancy, email="jane@example.org")
    make_submission(application, {})
    queue_receipt(application=application, base_url="", at=timezone.now())
    email = email_from(
        MailTemplate(subject_en="x", body_en="{vacancy} {brand} {signature}"),
        application,
        language="en",
    ).outgoing(kind=Message.Kind.TEMPLATE, author=None, stage_change=None)
    outbox.queue(email, at=timezone.now())
    tokens = bearer(make_token(application.user))
    client.force_login(application.user)
    single, preview = f"/v1/vacancies/{vacancy.pk}", token_for(vacancy.pk)
    paths = [
        *LISTS,
        single,
        f"{single}/form",
        f"{single}/form/schema",
        f"{single}?preview={preview}",
    ]
    paths += ["/v1/user/applications", "/account/", "/account/export", "/openapi.json"]
    paths += [
        f"/account/applications/{application.pk}",
        f"/vacancies/{vacancy.pk}",
        f"/preview/{preview}",
    ]
    paths += [f"/apply/{vacancy.pk}", f"/v1/vacancies?filter[search]={HIDDEN_WORD}"]

    answers = {path: client.get(path, headers=tokens if "user" in path else {}) for path in paths}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert [path for path, answer in answers.items() if f"{HIDDEN_WORD} " in answer.text] == []
    assert answers[paths[-1]].json()["meta"]["total"] == 0
    emails = [f"{each.subject} {each.text} {each.sender}" for each in Message.objects.all()]
    assert (len(emails), [each for each in emails if HIDDEN_WORD in each]) == (2, [])
