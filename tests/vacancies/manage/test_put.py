"""PUT and DELETE of one vacancy: what is written, kept, refused and returned."""

import gzip
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.vacancies.manage.client import Api, make_integration, row_counts
from vacancies.exchange.comparison import set_by_recruiters
from vacancies.models import (
    Approval,
    Attachment,
    Change,
    IntegrationScope,
    Recruiter,
    Vacancy,
    Version,
)
from vacancies.operations import approval_decisions, publication
from vacancies.operations.save import Edit, save_content

pytestmark = pytest.mark.django_db
PUBLISH = (IntegrationScope.READ, IntegrationScope.WRITE, IntegrationScope.PUBLISH)


def written(run: Any) -> list[str]:
    """Return the statements of `run` that write a row, without the last use of a token."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        run()
    verbs = ("INSERT", "UPDATE", "DELETE")
    found = [each["sql"] for each in queries if each["sql"].startswith(verbs)]
    return [sql for sql in found if "integrationtoken" not in sql]


def test_put_creates_and_updates_and_a_repeated_one_writes_nothing(api, body):
    make_option("regions", "Antwerp", value="antwerp")
    make_option("regions", "Ghent")
    whole = body | {
        "title_internal": "Welder (dock 3)",
        "is_hot": True,
        "regions": ["ghent", "ANTWERP", "Ghent"],
        "location": "Dock 3",
        "image": "https://hris.example/a.png",
        "attachments": [{"name": "Profile", "path": "https://hris.example/p.pdf"}],
        "recruiters": [{"email": "bo@acme.example", "name": "Bo"}],
        "places": [{"locality": "Antwerp", "country": "BE", "latitude": 51.2, "longitude": 4.4}],
        "remote_countries": ["BE", "NL"],
        "pay": {"min": 3100, "max": 4250.5, "currency": "EUR", "period": "month"},
        "is_pay_public": False,
        "audience": "both",
        "publication": {"state": "public", "from": "2026-01-05T09:00:00Z", "until": "2030-01-31"},
    }
    created = api.put("A-1", whole)
    assert created.status_code == 201, created.content
    data = created.json()["data"]
    assert data["reference"] == "A-1"
    assert data["regions"] == ["Ghent", "Antwerp"]
    assert data["pay"]["max"] == 4250.5
    assert data["publication"]["state"] == "public"
    assert data["brand"]["name"] == "Acme"
    before = row_counts()
    assert written(lambda: api.put("A-1", whole)) == []
    assert row_counts() == before
    updated = api.put("A-1", whole | {"title": "Senior welder"})
    assert updated.status_code == 200
    assert updated.json()["changed"] == ["title"]
    version = Version.objects.first()
    assert version.author == api.integration.user
    assert version.content == {"title": "Senior welder"}


def test_what_get_returns_can_be_sent_back(api, body, settings):
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    api.put("A-1", body | {"is_pay_public": False, "pay": {"note": "Gross"}})
    vacancy = Vacancy.objects.get()
    Vacancy.objects.update(image="vacancies/own.png")
    Attachment.objects.create(vacancy=vacancy, name="Own", file="attachments/own.pdf")
    item = api.get("vacancies/A-1").json()["data"]
    computed = ("id", "slug", "url", "reference", "employment_types", "languages", "created_at")
    dates = ("updated_at", "published_at", "closes_at", "closing_date")
    sent = {name: value for name, value in item.items() if name not in (*computed, *dates)}
    answer = api.put("A-1", sent)
    assert answer.json().get("changed") == [], answer.content
    assert api.put("A-1", {"attachments": None, "image": None}).json()["changed"] == []
    assert Attachment.objects.get().name == "Own"


def test_a_missing_key_changes_nothing_and_an_empty_value_clears(api, body):
    api.put(
        "A-1",
        body
        | {
            "location": "Dock",
            "pay": {"note": "Gross"},
            "places": [{"locality": "Ghent", "country": "BE"}],
        },
    )
    assert api.put("A-1", {}).json()["changed"] == []
    cleared = api.put("A-1", {"location": None, "pay": None, "places": []}).json()
    assert sorted(cleared["changed"]) == ["location", "pay", "places"]
    assert cleared["data"]["pay"] is None


def test_delete_unpublishes_and_archives_and_can_be_repeated(api, body):
    api.put("A-1", body)
    assert api.delete("A-1").status_code == 204
    assert Vacancy.objects.get().status == "archived"
    assert written(lambda: api.delete("A-1")) == []
    assert api.delete("A-2").status_code == 404
    assert api.put("A-1", body).json()["data"]["publication"]["state"] == "public"


def test_a_dry_run_writes_nothing_and_says_what_would_change(api, body):
    before = row_counts()
    people = {"recruiters": [{"email": "new@acme.example", "name": "New"}]}
    answer = api.put("A-1", body | people, "?dry_run=true")
    assert (answer.status_code, answer.json()["data"]) == (200, None)
    assert "title" in answer.json()["changed"]
    assert row_counts() == before
    api.put("A-1", body)
    answer = api.put("A-1", {"title": "Other"}, "?dry_run=true").json()
    assert (answer["changed"], answer["data"]["title"]) == (["title"], "Welder")
    assert api.put("A-1", {"title": 5}, "?dry_run=true").status_code == 422
    assert api.put("A-1", body, "?dry_run=maybe").status_code == 400


def test_the_vacancy_of_a_recruiter_is_taken_over_by_its_reference(api, body):
    own = make_vacancy(reference="A-1", brand=make_brand("Acme"))
    make_vacancy(reference="A-1", brand=make_brand("Other"))
    assert api.put("A-1", {"title": "Taken over"}).status_code == 200
    own.refresh_from_db()
    assert own.title == "Taken over"


def test_html_is_converted_and_what_was_altered_is_a_warning(api, body):
    answer = api.put("A-1", body | {"profile": "<p>A</p><script>x()</script>"}).json()
    assert answer["data"]["profile"] == "<p>A</p>"
    [warning] = answer["warnings"]
    assert (warning["pointer"], warning["code"]) == ("/profile", "markup_removed")
    assert api.put("A-1", {"profile": "&lt;p&gt;A&lt;/p&gt;"}).status_code == 422


# --- Who wins -------------------------------------------------------------------------------------


def test_without_the_scope_to_publish_a_new_vacancy_is_a_draft(body):
    make_brand("Acme")
    api = Api(make_integration(scopes=(IntegrationScope.READ, IntegrationScope.WRITE)))
    answer = api.put("A-1", body)
    assert (answer.status_code, answer.json()["kept"]) == (201, ["publication"])
    assert Vacancy.objects.get().status == "draft"
    Vacancy.objects.update(status="published", publish_from=timezone.now() - timedelta(days=1))
    closed = api.put("A-1", {"publication": {"state": "closed"}}).json()
    assert (closed["changed"], closed["kept"]) == (["publication"], [])


def test_an_integration_may_change_its_own_dates(api, body):
    until = {"state": "public", "until": "2030-01-31T00:00:00Z"}
    api.put("A-1", body | {"publication": until})
    answer = api.put("A-1", {"publication": until | {"until": "2030-02-28T00:00:00Z"}}).json()
    assert (answer["changed"], answer["kept"]) == (["publication"], [])
    assert set_by_recruiters([Vacancy.objects.get().pk])["publish_until"] == set()


def test_what_a_person_set_later_is_kept_but_closing_works(api, body):
    recruiter = User.objects.create_user("recruiter")
    api.put("A-1", body | {"publication": {"state": "public", "until": "2030-01-31T00:00:00Z"}})
    publication.extend(
        vacancies=Vacancy.objects.all(), weeks=3, at=timezone.now(), author=recruiter
    )
    again = api.put("A-1", body | {"publication": {"state": "public", "until": None}}).json()
    assert (again["changed"], again["kept"]) == ([], ["publication"])
    assert again["warnings"][0]["pointer"] == "/publication/until"
    closed = api.put("A-1", {"publication": {"state": "closed"}}).json()
    assert (closed["changed"], closed["kept"]) == (["publication"], [])
    reopened = api.put("A-1", {"publication": {"state": "public"}}).json()
    assert (reopened["changed"], reopened["kept"]) == (["publication"], [])  # it closed it itself
    publication.unpublish(vacancies=Vacancy.objects.all(), at=timezone.now(), author=recruiter)
    kept = api.put("A-1", body).json()
    assert (kept["changed"], kept["kept"]) == ([], ["publication"])
    assert written(lambda: api.put("A-1", body)) == []


def test_content_of_the_source_replaces_that_of_a_recruiter(api, body):
    api.put("A-1", body)
    save_content(
        Vacancy.objects.get(),
        Edit({"title": "Mine", "location": "Mine"}),
        author=User.objects.create_user("recruiter"),
        at=timezone.now(),
    )
    assert api.put("A-1", body).json()["changed"] == ["title"]
    vacancy = Vacancy.objects.get()
    assert (vacancy.title, vacancy.location) == ("Welder", "Mine")


def test_dates_follow_the_source(api, body, at):
    api.put("A-1", body | {"publication": {"state": "public", "from": "2030-01-01T09:00:00Z"}})
    vacancy = Vacancy.objects.get()
    assert vacancy.publish_from == datetime(2030, 1, 1, 9, tzinfo=UTC)
    api.put("A-1", {"publication": {"state": "public"}})
    assert Vacancy.objects.get().publish_from == vacancy.publish_from
    api.put("A-1", {"publication": {"from": None}})
    assert Vacancy.objects.get().publish_from == timezone.now().replace(microsecond=0)
    assert api.put("A-1", {"publication": {"from": None}}).json()["changed"] == []


# --- Approval -------------------------------------------------------------------------------------


@pytest.fixture
def approving(body) -> Any:
    make_brand("Acme", requires_approval=True)
    return Api(make_integration())


def approve(vacancy: Vacancy) -> None:
    boss = User.objects.create_superuser(f"boss{User.objects.count()}")
    request = Approval.objects.waiting().get()
    seen = approval_decisions.fingerprint(vacancy, request)
    approval_decisions.approve(vacancy=vacancy, seen=seen, at=timezone.now(), author=boss)


@pytest.mark.slow("many cases")
def test_a_brand_with_approval_gets_a_request_and_a_repeated_put_none(approving, body):
    first = approving.put("A-1", body)
    assert first.status_code == 202
    assert first.json()["approval"]["waiting"] == ["publication"]
    assert first.json()["data"]["publication"]["state"] == "closed"
    assert written(lambda: approving.put("A-1", body)) == []
    again = approving.put("A-1", body)
    assert (again.status_code, again.json()["approval"]) == (202, first.json()["approval"])
    approve(Vacancy.objects.get())
    assert approving.put("A-1", body).status_code == 200

    title = approving.put("A-1", body | {"title": "Other"})
    assert (title.status_code, title.json()["changed"]) == (202, [])
    assert title.json()["approval"]["waiting"] == ["title"]
    assert written(lambda: approving.put("A-1", body | {"title": "Other"})) == []
    dry = approving.put("A-1", body | {"title": "Third"}, "?dry_run=true")
    assert (dry.status_code, dry.json()["approval"]) == (200, {"id": None, "waiting": ["title"]})


def test_dates_that_were_approved_remain_those_of_the_source(approving, body):
    approving.put("A-1", body)
    approve(Vacancy.objects.get())
    later = body | {"publication": {"state": "public", "until": "2030-01-31T00:00:00Z"}}
    assert approving.put("A-1", later).json()["changed"] == ["publication"]


@pytest.mark.slow("many cases")
def test_a_source_that_changes_its_mind_withdraws_its_request(approving, body):
    approving.put("A-1", body)
    approve(Vacancy.objects.get())
    approving.put("A-1", body | {"title": "Other", "location": "Dock"})
    back = approving.put("A-1", {"title": "Welder"})
    assert back.json()["approval"]["waiting"] == ["location"]
    approving.put("A-1", {"location": None})
    assert not Approval.objects.waiting().exists()
    approving.put("A-1", {"title": "Third"})
    approving.delete("A-1")
    assert Vacancy.objects.get().status == "archived"


def test_closing_withdraws_the_request_to_publish(approving, body):
    approving.put("A-1", body)
    approving.put("A-1", {"publication": {"state": "closed"}})
    assert not Approval.objects.waiting().exists()


def test_the_request_of_a_colleague_is_overridden_in_content_and_kept_in_publication(
    approving, body
):
    approving.put("A-1", body)
    approve(Vacancy.objects.get())
    save_content(
        Vacancy.objects.get(),
        Edit({"title": "Mine", "publish_from": "2030-05-01T00:00:00+00:00"}),
        author=User.objects.create_user("recruiter"),
        at=timezone.now(),
    )
    sent = {"title": "Theirs", "publication": {"state": "public", "from": "2030-01-01T00:00:00Z"}}
    answer = approving.put("A-1", sent)
    assert (answer.status_code, answer.json()["kept"]) == (202, ["publication"])
    changes = Approval.objects.waiting().get().changes
    assert (changes["title"], changes["publish_from"][:7]) == ("Theirs", "2030-05")


# --- Conditions -----------------------------------------------------------------------------------


def test_if_match_and_if_none_match(api, body):
    assert api.put("A-1", body, **{"If-Match": "*"}).status_code == 412
    assert api.put("A-1", body, **{"If-None-Match": "*"}).status_code == 201
    assert api.put("A-1", body, **{"If-None-Match": "*"}).status_code == 412
    tag = api.get("vacancies/A-1")["ETag"]
    assert api.put("A-1", {"title": "B"}, **{"If-Match": f'"x", W/{tag}'})["ETag"] != tag
    for run in (
        lambda **how: api.put("A-1", {"title": "C"}, **how),
        lambda **how: api.delete("A-1", **how),
    ):
        assert run(**{"If-Match": tag}).status_code == 412
    assert Vacancy.objects.get().title == "B"


# --- Errors ---------------------------------------------------------------------------------------


def pointers(answer: Any) -> list[str]:
    return [each["pointer"] for each in answer.json()["errors"]]


def test_all_errors_come_at_once_with_pointers_and_allowed_values(api, body):
    make_option("regions", "Ghent")
    answer = api.put(
        "A-1",
        body
        | {
            "title": "",
            "is_hot": "yes",
            "regions": ["Ghent", "Gent"],
            "work_place": "moon",
            "recruiters": [{"email": "x"}],
            "publication": {"state": "open"},
            "pay": {"min": 1},
            "form": 99,
            "brand": {"name": "Other"},
            "places": [{"locality": "Ghent", "country": "BE"}, {"locality": "", "country": "XX"}],
        },
    )
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    found = {each["pointer"]: each for each in answer.json()["errors"]}
    wanted = (
        "/title /is_hot /regions/1 /work_place /recruiters/0/email /publication/state /pay/currency "
        "/pay/period /form /brand/name /places/1/locality /places/1/country"
    )
    assert found.keys() == set(wanted.split())
    assert found["/regions/1"]["allowed"] == ["Ghent"]
    assert found["/publication/state"]["allowed"] == ["public", "closed"]
    assert found["/brand/name"]["allowed"] == ["Acme"]
    assert not Vacancy.objects.exists()


def test_a_null_in_a_list_is_an_error_of_its_place(api, body):
    lists = ("places", "remote_countries", "recruiters", "attachments", "regions")
    answer = api.put("V-1", body | {key: [None] for key in lists})
    assert answer.status_code == 422
    assert {each["pointer"] for each in answer.json()["errors"]} == {f"/{key}/0" for key in lists}


def test_what_keeps_a_vacancy_from_being_published_is_422_by_key(api, body):
    answer = api.put(
        "A-1", {"title": "T", "publication": {"state": "public", "until": "2020-01-01"}}
    )
    assert answer.status_code == 422
    assert set(pointers(answer)) == {"/head_recruiter", "/description", "/publication/until"}
    answer = api.put("A-1", {"title": "T", "regions": ["X"], "publication": {"state": "public"}})
    assert set(pointers(answer)) == {"/regions/0", "/head_recruiter", "/description"}
    assert not Vacancy.objects.exists()


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("titel", ["title"]),
        ("published_at", ["publication.from"]),
        ("status", ["publication.state"]),
        ("contract_type", ["contract_types"]),
        ("id", None),
    ],
)
def test_an_unknown_key_is_400_with_the_right_name(api, body, key, right):
    answer = api.put("A-1", body | {key: 1, "is_hot": 3})
    assert (answer.status_code, pointers(answer)) == (400, [f"/{key}", "/is_hot"])
    assert answer.json()["errors"][0].get("allowed") == right


def test_unknown_and_repeated_keys_are_found_at_any_depth(api, body):
    answer = api.put("A-1", body | {"places": [{"locality": "A", "country": "BE", "zip": "1"}]})
    assert (answer.status_code, pointers(answer)) == (400, ["/places/0/zip"])
    answer = api.put("A-1", '{"title": "A", "pay": {"min": 1, "min": 2}}')
    assert (answer.status_code, pointers(answer)) == (400, ["/pay/min"])


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b" ", 400),
        (b"[]", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"title": "' + b"a" * 1_000_000 + b'"}', 413),
        (b'{"title": "\\ud800"}', 422),
        (b'{"\\ud800": 1, "title": "a"}', 400),
        (b'{"title": "a\\u0000b"}', 422),
        (b'{"title": "a", "pay": {"min": NaN}}', 422),
        (b'{"title": "a", "form": 1e400}', 422),
        (gzip.compress(b"{}", mtime=0), 400),
    ],
)
def test_a_malformed_body_is_refused(api, content, status):
    answer = api.put("A-1", content)
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"


def test_other_media_types_and_references_are_refused(api, body):
    answer = api.client.put(
        "/v1/manage/acme/vacancies/A-1",
        "a=1",
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": f"Bearer {api.token}"},
    )
    assert answer.status_code == 415
    assert api.put("a%20b", body).status_code == 404
    assert api.put("a" * 101, body).status_code == 404
    assert api.put("a" * 100, body).status_code == 201


# --- Recruiters and options -----------------------------------------------------------------------


def test_recruiters_are_found_by_email_and_new_ones_need_the_scope(body):
    make_brand("Acme")
    api = Api(make_integration(scopes=PUBLISH))
    new = body | {"recruiters": [{"email": "bo@acme.example", "name": "Bo"}]}
    refused = api.put("A-1", new)
    assert (refused.status_code, pointers(refused)) == (403, ["/recruiters/0/email"])
    assert IntegrationScope.RECRUITERS in refused.json()["detail"]
    assert api.put("A-1", new | {"is_hot": 3}).status_code == 422
    api.integration.scopes.append(IntegrationScope.RECRUITERS)
    api.integration.save()
    assert api.put("A-1", new).status_code == 201
    bo = Recruiter.objects.get(name="Bo")
    assert (bo.email, bo.is_email_public) == ("bo@acme.example", False)
    assert api.put("A-1", new).json()["changed"] == []
    by_id = {"head_recruiter": {"id": bo.pk, "name": "Bo", "email": None}}
    assert api.put("A-1", by_id).json()["changed"] == ["head_recruiter"]
    answer = api.put("A-1", {"head_recruiter": {"name": "Bo"}})
    assert pointers(answer) == ["/head_recruiter/email"]


def test_an_option_that_is_no_longer_available_can_only_stay(api, body):
    option = make_option("types", "Graduate")
    api.put("A-1", body | {"types": ["Graduate"]})
    option.is_active = False
    option.save()
    assert api.put("A-1", {"types": ["Graduate"]}).status_code == 200
    assert pointers(api.put("A-2", body | {"types": ["Graduate"]})) == ["/types/0"]


# --- Reading --------------------------------------------------------------------------------------


def test_the_list_has_every_state_in_pages_by_id(api, body, monkeypatch):
    monkeypatch.setattr("vacancies.manage.views.PAGE", 2)
    brand = make_brand("Acme")
    rows = [
        make_vacancy(brand=brand, status=status, reference=f"R {n}" if n == 1 else f"R{n}")
        for n, status in enumerate(("draft", "published", "archived"))
    ]
    make_vacancy(brand=make_brand("Other"))
    first = api.get("vacancies").json()
    assert [each["id"] for each in first["data"]] == [rows[0].pk, rows[1].pk]
    assert [bool(each["address"]) for each in first["data"]] == [True, False]
    second = api.client.get(
        first["links"]["next"], headers={"Authorization": f"Bearer {api.token}"}
    ).json()
    assert [each["id"] for each in second["data"]] == [rows[2].pk]
    assert second["links"] == {"next": None}
    drafts = api.get("vacancies?filter[state]=draft").json()["data"]
    assert [each["id"] for each in drafts] == [rows[0].pk]
    address = first["data"][0]["address"]
    assert address.endswith("/v1/manage/acme/vacancies/R0")
    for query in (
        "since=2026-01-01",
        "filter[state]=",
        "filter[state]=open",
        "after=x",
        "after=1&after=2",
    ):
        assert api.get(f"vacancies?{query}").status_code == 400


def test_vacancies_without_a_brand_have_a_hyphen(api, body, settings):
    settings.MULTI_BRANDING = False
    api.brand = "-"
    assert api.put("A-1", body).status_code == 201
    assert Vacancy.objects.get().brand is None
    assert api.get("vacancies").json()["data"][0]["address"].endswith("/v1/manage/-/vacancies/A-1")


def test_the_values_name_options_recruiters_forms_and_languages(api):
    make_option("regions", "Ghent", value="ghent")
    make_option("regions", "Old", is_active=False)
    make_recruiter("An", email="an@acme.example")
    data = api.get("values").json()["data"]
    assert data["options"]["regions"] == [{"label": "Ghent", "value": "ghent"}]
    assert data["recruiters"][0]["email"] == "an@acme.example"
    assert "nl" in data["languages"]
    assert data.keys() == {"options", "recruiters", "forms", "languages"}


def test_the_history_says_what_the_integration_did(api, body):
    api.put("A-1", body)
    api.delete("A-1")
    kinds = list(Version.objects.order_by("pk").values_list("change", flat=True))
    assert kinds == [Change.CREATED, Change.ARCHIVED]
