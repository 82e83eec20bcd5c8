"""The admin pages around the form of a vacancy: dashboard, publication, review, options."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from applications.models import Application
from tests.applications.makers import make_application
from tests.conftest import NOW
from tests.factories import make_brand, make_filter, make_option, make_recruiter, make_vacancy
from tests.vacancies.admin.test_admin import LIST, errors, opened, page, picture, run, saved
from vacancies import operations
from vacancies.history.versions import content, record
from vacancies.models import Change, FilterOption, State, Vacancy, VacancyOption, Version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DAY = timedelta(days=1)
OPTIONS = "/admin/vacancies/filteroption/"


@pytest.fixture
def anna(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("anna", first_name="Anna", last_name="Peeters"))
    return client


@pytest.fixture
def colleague() -> Client:
    """A recruiter with access to the brand "Mine" only."""
    user = User.objects.create_user("colleague", is_staff=True)
    rights = ("view_vacancy", "add_vacancy", "change_vacancy", "delete_vacancy")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    make_brand("Mine").members.add(user)
    client = Client()
    client.force_login(user)
    return client


def make_every_kind(**values: Any) -> None:
    """Vacancies in each state. For each reason to need attention, a public vacancy and one that is not public
    any more."""
    head = make_recruiter("Reachable", email="jan@acme.test", is_email_public=True)
    fine = {
        "head_recruiter": head, "image_url": "https://images.acme.test/a.png", "publish_from": NOW - 9 * DAY,
        "options": {"regions": ["Ghent"]},
    }  # fmt: skip
    for begin in (NOW - DAY, NOW + DAY):
        make_vacancy(**fine | {"publish_from": begin} | values)
    for status in ("draft", "unpublished", "archived"):
        make_vacancy(**fine | {"status": status} | values)
    flaws: list[dict[str, Any]] = [
        {"description": ""},
        {"image_url": ""},
        {"head_recruiter": make_recruiter("Silent", email="silent@acme.test")},
        {"is_hot": True, "publish_until": NOW + 3 * DAY},
        {"is_permanent": True, "publish_until": NOW + 30 * DAY},
        {"title": "NURSE WANTED"},
        {"title_internal": "Nurse (confidential)"},
        {"options": {}},
    ]
    for flaw in flaws:
        make_vacancy(**fine | flaw | values)
        make_vacancy(**fine | flaw | {"publish_until": NOW - DAY} | values)


def listed(client: Client, url: str) -> set[int]:
    return {vacancy.pk for vacancy in client.get(url).context["cl"].queryset}


# --- dashboard ---


@pytest.mark.parametrize("who", ["anna", "colleague"])
def test_dashboard_counts_match_the_linked_lists(request: Any, at: datetime, who: str) -> None:
    client: Client = request.getfixturevalue(who)
    make_every_kind(brand=make_brand("Mine"))
    make_every_kind(brand=make_brand("Other"))

    context = client.get("/admin/").context

    tiles = [*context["states"], *context["attention"]]
    assert len(context["states"]) == 4
    assert len(context["attention"]) == 9
    own = set(Vacancy.objects.filter(brand__name="Mine").values_list("pk", flat=True))
    for tile in tiles:
        found = listed(client, tile["url"])
        assert str(len(found)) == tile["count"] != "0"
        assert found <= own if who == "colleague" else found - own
    for tile in context["states"]:
        found = Vacancy.objects.in_bulk(listed(client, tile["url"])).values()
        assert {vacancy.state for vacancy in found} == {tile["state"]}
    html = client.get("/admin/").content.decode()
    for tile in tiles:
        assert f'href="{tile["url"].replace("&", "&amp;")}"' in html


def test_dashboard_counts_each_reason_for_public_vacancies_only(anna: Client, at: datetime) -> None:
    make_every_kind()

    context = anna.get("/admin/").context

    counts = {str(each["label"]): each["count"] for each in context["attention"]}
    assert counts == {
        "Closing within a week": "1",
        "No description": "1",
        "No image": "1",
        "No contact information": "1",
        "Featured, but closing soon": "1",
        "Continuously open, but with a closing date": "1",
        "Title in capitals": "1",
        "Internal wording in the internal title": "1",
        "No filter options": "1",
    }
    assert {str(each["state"]): each["count"] for each in context["states"]} == {
        "published": "9", "scheduled": "1", "draft": "1", "expired": "8",
    }  # fmt: skip


def test_dashboard_caps_the_counts(anna: Client, monkeypatch: Any) -> None:
    from vacancies.admin import dashboard

    monkeypatch.setattr(dashboard, "COUNTED", 2)
    for _ in range(3):
        make_vacancy(status="draft")
    counts = {each["state"]: each["count"] for each in anna.get("/admin/").context["states"]}
    assert counts == {State.PUBLISHED: "", State.SCHEDULED: "", State.DRAFT: "2+", State.EXPIRED: ""}


def test_dashboard_shows_upcoming_changes_in_order(anna: Client, at: datetime) -> None:
    later, soon = (make_vacancy(publish_from=NOW + days * DAY) for days in (9, 1))
    last, first = (make_vacancy(publish_until=NOW + days * DAY) for days in (6, 1))
    make_vacancy(publish_until=NOW + 60 * DAY)

    appear, end = anna.get("/admin/").context["coming"]

    assert [vacancy.pk for vacancy, _ in appear["rows"]] == [soon.pk, later.pk]
    assert [vacancy.pk for vacancy, _ in end["rows"]] == [first.pk, last.pk]
    assert appear["rows"][0][1] == "3 Mar 2026, 09:30"


def test_dashboard_shows_the_last_change_of_existing_vacancies(anna: Client, colleague: Client) -> None:
    author = User.objects.get(username="anna")
    mine, other, gone = (make_vacancy(brand=make_brand(name)) for name in ("Mine", "Other", "Mine"))
    for vacancy in (mine, gone, other, mine):
        record(vacancy, Change.RESTORED, author=author, at=NOW)
    record(mine, Change.FOUND, author=None, at=NOW)
    gone.delete()

    seen = [
        [(each["vacancy"].pk, each["version"].change) for each in client.get("/admin/").context["latest"]]
        for client in (anna, colleague)
    ]

    assert seen == [[(mine.pk, "restored"), (other.pk, "restored")], [(mine.pk, "restored")]]


@pytest.mark.parametrize("who", ["anna", "colleague"])
def test_dashboard_query_count_does_not_depend_on_the_rows(
    request: Any, django_assert_max_num_queries: Any, who: str
) -> None:
    client: Client = request.getfixturevalue(who)
    brand, now = make_brand("Mine"), datetime.now(UTC)

    def fill() -> None:
        author = User.objects.create_user(f"author {User.objects.count()}")
        for days in (-1, 1):
            vacancy = make_vacancy(
                brand=brand, publish_from=now + days * DAY, publish_until=now + 3 * DAY
            )  # fmt: skip
            record(vacancy, Change.CREATED, author=author, at=NOW)

    fill()
    client.get("/admin/")
    with django_assert_max_num_queries(24) as few:
        client.get("/admin/")
    for _ in range(29):
        fill()
    with django_assert_max_num_queries(24) as many:
        client.get("/admin/")
    assert len(many) == len(few)


def test_dashboard_without_view_permission_shows_no_vacancies(client: Client) -> None:
    make_vacancy(title="Secret")
    client.force_login(User.objects.create_user("accounts", is_staff=True))

    response = client.get("/admin/")

    assert "states" not in response.context
    assert b"Secret" not in response.content


# --- list ---


def test_list_with_applications_query_count_does_not_depend_on_the_rows(
    anna: Client, django_assert_num_queries: Any
) -> None:
    make_application(vacancy=make_vacancy(title="Applied to"))
    assert "vacancy__id__exact" in anna.get(LIST).content.decode()
    with django_assert_num_queries(5):
        anna.get(LIST)
    for number in range(29):
        make_vacancy(brand=make_brand(f"Brand {number}"))
    with django_assert_num_queries(5):
        response = anna.get(LIST)
    counts = {row.title: row.application_count for row in response.context["cl"].result_list}
    assert (len(counts), sum(counts.values()), counts["Applied to"]) == (30, 1, 1)
    assert Application.objects.count() == 1


def test_archived_vacancies_are_listed_on_request(anna: Client) -> None:
    rows = {state: make_vacancy(title=state, status=state) for state in ("draft", "unpublished", "archived")}

    assert listed(anna, LIST) == {rows["draft"].pk, rows["unpublished"].pk}
    assert listed(anna, f"{LIST}?state=archived") == {rows["archived"].pk}
    assert listed(anna, f"{LIST}?state=all") == {row.pk for row in rows.values()}
    assert listed(anna, f"{LIST}?state=nonsense") == {rows["draft"].pk, rows["unpublished"].pk}
    assert listed(anna, f"{LIST}?q=archived") == set()


@pytest.mark.parametrize("value", ["nonsense", "", "1", "ending'"])
def test_unknown_attention_reason_filters_nothing(anna: Client, value: str) -> None:
    vacancy = make_vacancy()
    assert listed(anna, f"{LIST}?attention={value}") == {vacancy.pk}


@pytest.mark.parametrize("few", [1, 500])
def test_search_finds_the_same_few_or_many(
    anna: Client, monkeypatch: Any, django_assert_max_num_queries: Any, few: int
) -> None:
    from vacancies.admin import vacancy as module

    monkeypatch.setattr(module, "FEW", few)
    found = [make_vacancy(title=f"Zebra keeper {number}") for number in range(3)]
    make_vacancy(title="Zebra archivist", status="archived")
    make_vacancy(title="Cook")
    anna.get(LIST)
    with django_assert_max_num_queries(6):
        response = anna.get(f"{LIST}?q=zebra&o=1")
    assert [row.pk for row in response.context["cl"].result_list] == [row.pk for row in found]
    assert response.context["cl"].result_count == 3
    assert listed(anna, f"{LIST}?q={found[1].pk}") >= {found[1].pk}
    assert listed(anna, f"{LIST}?q=qqqq") == set()


def test_list_count_is_capped(anna: Client, monkeypatch: Any) -> None:
    from vacancies.admin import list_filters

    monkeypatch.setattr(list_filters, "COUNTED", 3)
    for _ in range(5):
        make_vacancy()
    assert anna.get(LIST).context["cl"].result_count == 3


# --- publication actions ---

NAMES = ("publish", "schedule", "unpublish", "extend", "archive", "duplicate")
STATES: dict[str, dict[str, Any]] = {
    "draft": {"status": "draft", "publish_from": None},
    "scheduled": {"publish_from": NOW + DAY},
    "published": {"publish_from": NOW - DAY, "publish_until": NOW + 9 * DAY},
    "expired": {"publish_from": NOW - 2 * DAY, "publish_until": NOW - DAY},
    "unpublished": {"status": "unpublished"},
    "archived": {"status": "archived"},
}


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("draft", ["publish", "schedule", "archive", "duplicate"]),
        ("scheduled", ["publish", "schedule", "unpublish", "duplicate"]),  # no closing date to extend
        ("published", ["unpublish", "extend", "duplicate"]),
        ("expired", ["publish", "schedule", "unpublish", "extend", "archive", "duplicate"]),
        ("unpublished", ["publish", "schedule", "archive", "duplicate"]),
        ("archived", ["publish", "schedule", "duplicate"]),
    ],
)
def test_page_offers_the_applicable_actions(
    anna: Client, at: datetime, state: str, offered: list[str]
) -> None:
    vacancy = make_vacancy(**STATES[state])
    urls = [button["url"] for button in anna.get(page(vacancy)).context["publication_buttons"]]
    assert urls == [f"{LIST}{vacancy.pk}/{name}/" for name in offered]
    for name in NAMES:
        assert anna.get(f"{LIST}{vacancy.pk}/{name}/").status_code == 200


def test_confirmation_page_changes_nothing(anna: Client, at: datetime) -> None:
    vacancy = make_vacancy(**STATES["draft"])
    before = Vacancy.objects.values().get()
    for name in NAMES:
        anna.get(f"{LIST}{vacancy.pk}/{name}/")
    assert (Vacancy.objects.values().get(), Version.objects.count()) == (before, 0)


def test_publish_page_lists_blockers_and_content_warnings(anna: Client) -> None:
    vacancy = make_vacancy(title="NURSE WANTED", description="", **STATES["draft"])
    Vacancy.objects.update(brand=None)

    response = anna.get(f"{LIST}{vacancy.pk}/publish/")

    assert response.context["publish_blockers"] == [
        "A vacancy needs a brand to be published.", "A vacancy needs a description to be published.",
    ]  # fmt: skip
    assert {"the title is in capitals", "has no options, so no filter finds it"} <= {
        str(text) for text in response.context["warnings"]
    }
    assert 'type="submit"><span' not in response.content.decode()
    after = anna.post(f"{LIST}{vacancy.pk}/publish/", follow=True)
    assert [str(message) for message in after.context["messages"]] == [
        "“NURSE WANTED” was not changed. A vacancy needs a brand to be published. "
        "A vacancy needs a description to be published."
    ]
    assert Vacancy.objects.get().state == State.DRAFT


def changes(client: Client, vacancy: Vacancy) -> tuple[bool, dict[str, str]]:
    context = client.get(f"{LIST}{vacancy.pk}/publish/").context
    return context["was_public"], {each.name: str(each.marked) for each in context["changes"]}


def test_publish_page_compares_with_the_last_public_version(anna: Client, time_machine: Any) -> None:
    time_machine.move_to(NOW, tick=False)
    author = User.objects.get(username="anna")
    vacancy = make_vacancy(title="Nurse", description="<p>Care</p>", **STATES["draft"])
    record(vacancy, Change.CREATED, author=author, at=NOW)
    is_known, all_of_it = changes(anna, vacancy)
    assert (is_known, all_of_it["title"]) == (False, "<div>Nurse</div>")
    # scheduled, but never public
    chosen = Vacancy.objects.filter(pk=vacancy.pk)
    operations.schedule(vacancies=chosen, publish_from=NOW + 2 * DAY, at=NOW, author=author)
    time_machine.move_to(NOW + DAY, tick=False)
    assert changes(anna, vacancy) == (False, all_of_it)
    # public, then unpublished and edited
    time_machine.move_to(NOW + 3 * DAY, tick=False)
    operations.unpublish(vacancies=chosen, at=NOW + 3 * DAY, author=author)
    assert changes(anna, vacancy) == (True, {})
    Vacancy.objects.update(title="Head nurse")
    record(vacancy, Change.CHANGED, author=author, at=NOW + 4 * DAY)
    assert changes(anna, vacancy) == (True, {"title": "<div><del>Nurse</del> <ins>Head nurse</ins></div>"})


def test_publish_page_compares_with_an_imported_public_version(anna: Client, at: datetime) -> None:
    vacancy = make_vacancy(title="Nurse", publish_from=NOW - 9 * DAY)
    assert saved(
        anna.post(page(vacancy), opened(anna, page(vacancy)) | {"status": "unpublished", "title": "Cook"})
    )

    assert changes(anna, vacancy) == (True, {"title": "<div><del>Nurse</del> <ins>Cook</ins></div>"})


def test_schedule_and_extend_validate_the_date(anna: Client, at: datetime) -> None:
    draft, published = make_vacancy(**STATES["draft"]), make_vacancy(**STATES["published"])
    schedule, extend = f"{LIST}{draft.pk}/schedule/", f"{LIST}{published.pk}/extend/"
    for url, form in (
        (schedule, {}),
        (schedule, {"publish_from_0": "2026-13-01", "publish_from_1": "10:00"}),
        (schedule, {"publish_from_0": "9999-12-31", "publish_from_1": "23:59"}),
        (extend, {}),
        (extend, {"day": "9999-12-31"}),
        (extend, {"day": "tomorrow"}),
    ):
        response = anna.post(url, form)
        assert (response.status_code, bool(response.context["form"].errors)) == (200, True)
    assert Version.objects.count() == 0

    assert saved(anna.post(schedule, {"publish_from_0": "2026-03-09", "publish_from_1": "08:00"}))
    assert saved(anna.post(extend, {"day": "2026-03-31"}))

    draft.refresh_from_db()
    published.refresh_from_db()
    assert (draft.status, draft.publish_from) == ("published", datetime(2026, 3, 9, 8, tzinfo=UTC))
    assert published.publish_until == datetime(2026, 4, 1, tzinfo=UTC)


def test_changelist_action_asks_once_for_the_date_and_reports_each_refusal(
    anna: Client, at: datetime
) -> None:
    rows = [make_vacancy(title=f"Row {n}", **STATES["published"]) for n in range(3)]
    endless = make_vacancy(title="Endless", publish_from=NOW - DAY)
    picked = {"action": "extend_selected", "_selected_action": [row.pk for row in (*rows, endless)]}

    requested = anna.post(LIST, picked)

    assert sorted(row.title for row in requested.context["some"]) == ["Endless", "Row 0", "Row 1", "Row 2"]
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="(\w*)"', requested.content.decode())
    assert sorted(value for name, value in hidden if name == "_selected_action") == sorted(
        str(pk) for pk in picked["_selected_action"]
    )
    assert Version.objects.count() == 0
    wrong = anna.post(LIST, picked | {"confirmed": "1", "day": "x"})
    assert wrong.context["form"].errors
    done = anna.post(LIST, picked | {"confirmed": "1", "day": "2026-03-31"}, follow=True)
    assert [str(message) for message in done.context["messages"]] == [
        "3 vacancies were extended.",
        "“Endless” was not changed. It has no closing date.",
    ]
    ends = set(Vacancy.objects.values_list("publish_until", flat=True))
    assert ends == {None, datetime(2026, 4, 1, tzinfo=UTC)}


def test_action_names_ten_refusals_and_counts_the_rest(anna: Client) -> None:
    rows = [make_vacancy(title=f"Row {n:02}", status="unpublished") for n in range(13)]
    assert run(anna, "unpublish_selected", rows) == [
        *(f"“Row {n:02}” was not changed. It is not published." for n in range(10)),
        "3 more vacancies were not changed.",
    ]


def test_action_on_too_many_vacancies_changes_nothing(anna: Client, monkeypatch: Any) -> None:
    from vacancies.admin import publication

    monkeypatch.setattr(publication, "COUNTED", 2)
    rows = [make_vacancy() for _ in range(3)]
    assert run(anna, "unpublish_selected", rows) == [
        "Nothing was changed. Choose at most 2 vacancies at a time."
    ]
    assert {vacancy.state for vacancy in Vacancy.objects.all()} == {State.PUBLISHED}


def test_number_of_duplicates_is_limited(anna: Client, monkeypatch: Any) -> None:
    from vacancies.admin import publication_actions

    monkeypatch.setattr(publication_actions, "COPIES", 2)
    rows = [make_vacancy(title=f"Row {n}") for n in range(3)]
    assert run(anna, "duplicate_selected", rows) == [
        "2 vacancies were duplicated.",
        "“Row 2” was not changed. At most 2 vacancies can be duplicated at a time.",
    ]
    copies = Vacancy.objects.filter(status="draft").order_by("pk").values_list("title", flat=True)
    assert list(copies) == ["Copy of Row 0", "Copy of Row 1"]


def test_duplicate_leads_to_the_copy(anna: Client) -> None:
    vacancy = make_vacancy()
    response = anna.post(f"{LIST}{vacancy.pk}/duplicate/")
    assert response["Location"] == page(Vacancy.objects.exclude(pk=vacancy.pk).get())


def test_actions_exclude_vacancies_of_other_brands(colleague: Client) -> None:
    other = make_vacancy(title="Secret", brand=make_brand("Other"))
    for name in NAMES:
        for ask in (colleague.get, colleague.post):
            assert ask(f"{LIST}{other.pk}/{name}/").status_code == 404
        run(colleague, f"{name}_selected", [other])
    assert (Vacancy.objects.get().state, Version.objects.count()) == (State.PUBLISHED, 0)


@pytest.mark.parametrize("number", ["0", "x", "9" * 30])
def test_action_on_a_missing_vacancy_is_404(anna: Client, number: str) -> None:
    assert anna.get(f"{LIST}{number}/publish/").status_code == 404


# --- review ---


def reviewed(client: Client, vacancy: Vacancy, change: dict[str, Any]) -> Any:
    return client.post(f"{LIST}{vacancy.pk}/review/", opened(client, page(vacancy)) | change)


def paper() -> SimpleUploadedFile:
    return SimpleUploadedFile("a.pdf", b"%PDF-1.4")


def stored(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_review_shows_what_saving_would_change_and_saves_nothing(anna: Client) -> None:
    ghent = make_option("regions", "Ghent")
    vacancy = make_vacancy(title="Nurse", description="<p>We care</p>")
    before, row = content(vacancy), Vacancy.objects.values().get()
    change = {
        "title": "Cook", "description": "<p>We cook<script>x</script></p>", "regions": [ghent.pk],
        "attachments-TOTAL_FORMS": "1", "attachments-0-url": "https://acme.test/a.pdf",
    }  # fmt: skip

    response = reviewed(anna, vacancy, change)

    found = {each.name: str(each.marked) for each in response.context["differences"]}
    assert found == {
        "title": "<div><del>Nurse</del> <ins>Cook</ins></div>",
        "description": "<div>We <del>care</del><ins>cook</ins></div>",
        "regions": "<div><ins>Ghent</ins></div>",
        "attachments": "<div><ins>a.pdf (https://acme.test/a.pdf)</ins></div>",
    }
    assert (content(vacancy), Vacancy.objects.values().get()) == (before, row)
    assert Version.objects.count() == 0
    assert reviewed(anna, vacancy, {}).context["differences"] == []


def test_review_neither_stores_nor_deletes_files(anna: Client, settings: Any) -> None:
    folder = Path(settings.MEDIA_ROOT)
    vacancy = make_vacancy()
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"image": picture("a.png", "PNG")}))
    (folder / "a.pdf").write_bytes(b"somebody else's")
    (folder / "attachments").mkdir()
    (folder / "attachments" / "a.pdf").write_bytes(b"another")
    before, files = content(vacancy), stored(folder)
    pdf = "attachments-0-file"

    for change in (
        {"image": picture("b.png", "PNG")},
        {"image": picture("a.png", "PNG")},  # the same name as the stored file
        {"attachments-TOTAL_FORMS": "1", pdf: paper()},
        {"attachments-TOTAL_FORMS": "1", pdf: paper(), "attachments-0-DELETE": "on"},
        {"image": picture("c.png", "PNG"), "title": ""},
        {"image-clear": "on"},
    ):
        response = reviewed(anna, vacancy, change)
        assert response.status_code in (200, 422), change
        assert (stored(folder), content(vacancy)) == (files, before), change


@pytest.mark.parametrize(
    "change", [{"title": ""}, {"head_recruiter": ""}, {"version": "2020-01-01T00:00:00+00:00"}]
)
def test_review_of_an_invalid_form_is_422(anna: Client, change: dict[str, str]) -> None:
    vacancy = make_vacancy()
    before = content(vacancy)
    assert reviewed(anna, vacancy, change).status_code == 422
    assert errors(anna.post(page(vacancy), opened(anna, page(vacancy)) | change)) != {}
    assert content(vacancy) == before


def test_review_needs_the_change_permission(client: Client, colleague: Client) -> None:
    vacancy = make_vacancy(brand=make_brand("Other"))
    guest = User.objects.create_user("guest", is_staff=True)
    rights = ("view_vacancy", "work_for_every_brand")
    guest.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(guest)
    url = f"{LIST}{vacancy.pk}/review/"
    assert client.post(url, {"title": "Mine"}).status_code == 403
    assert colleague.post(url, {"title": "Mine"}).status_code == 404
    assert client.get(url).status_code == 404


# --- options ---


def make_in_place(client: Client, keyword: str, label: str) -> tuple[int, dict[str, Any]]:
    response = client.post(f"/admin/vacancies/filter/{make_filter(keyword).pk}/option/", {"label": label})
    return response.status_code, response.json()


def test_option_is_added_in_place_once(anna: Client) -> None:
    make_option("regions", "Antwerp", position=7)

    status, made = make_in_place(anna, "regions", "  East   Flanders ")

    option = FilterOption.objects.get(label="East Flanders")
    assert (status, made) == (200, {"id": option.pk, "label": "East Flanders"})
    assert (option.value, option.position, option.is_active) == ("east-flanders", 8, True)
    assert make_in_place(anna, "regions", "EAST FLANDERS") == (200, made)
    assert make_in_place(anna, "regions", "East\0 Flanders") == (200, made)
    assert make_in_place(anna, "types", "East Flanders")[1]["id"] != option.pk
    assert FilterOption.objects.filter(filter__keyword="regions").count() == 2


@pytest.mark.parametrize("label", ["", "   ", "\0", "x" * 201])
def test_invalid_option_label_is_refused_with_a_message(anna: Client, label: str) -> None:
    status, answer = make_in_place(anna, "regions", label)
    assert (status, list(answer)) == (400, ["error"])
    assert answer["error"]
    assert not FilterOption.objects.exists()


def test_new_option_gets_a_free_value(anna: Client) -> None:
    for label in ("C", "C++", "C#", "日本"):
        assert make_in_place(anna, "types", label)[0] == 200
    found = FilterOption.objects.order_by("pk").values_list("label", "value")
    assert list(found) == [("C", "c"), ("C++", "c-2"), ("C#", "c-3"), ("日本", "option")]


def test_adding_an_option_in_place_needs_the_add_permission(colleague: Client, anna: Client) -> None:
    number = make_filter("regions").pk
    assert colleague.post(f"/admin/vacancies/filter/{number}/option/", {"label": "Ghent"}).status_code == 403
    assert anna.get(f"/admin/vacancies/filter/{number}/option/").status_code == 404
    for nothing in ("0", "9" * 30):
        assert anna.post(f"/admin/vacancies/filter/{nothing}/option/", {"label": "Ghent"}).status_code == 404
    assert not FilterOption.objects.exists()


def test_inactive_option_stays_on_its_vacancies_and_cannot_be_chosen(anna: Client) -> None:
    off, on = make_option("regions", "Old name", is_active=False), make_option("regions", "New name")
    carrier, other = make_vacancy(options={"regions": ["Old name"]}), make_vacancy()
    offered = {
        vacancy.pk: [label for _, label in form.fields["regions"].choices]
        for vacancy in (carrier, other)
        for form in [anna.get(page(vacancy)).context["adminform"].form]
    }

    assert offered == {carrier.pk: ["New name", "Old name"], other.pk: ["New name"]}
    assert saved(anna.post(page(carrier), opened(anna, page(carrier)) | {"title": "Still"}))
    assert [choice.option for choice in carrier.choices.all()] == [off]
    refused = anna.post(page(other), opened(anna, page(other)) | {"regions": [off.pk]})
    assert list(errors(refused)) == ["regions"]
    status, answer = make_in_place(anna, "regions", "old name")
    assert (status, answer) == (400, {"error": "“Old name” is switched off. Choose another option."})
    assert saved(anna.post(page(other), opened(anna, page(other)) | {"regions": [on.pk]}))
    # public filters still find it
    assert anna.get("/v1/vacancies?filter[regions]=old-name").json()["meta"]["total"] == 1
    assert anna.get(f"/v1/vacancies/{carrier.pk}").json()["data"]["regions"] == ["Old name"]
    # once removed, it cannot be chosen again
    assert saved(anna.post(page(carrier), opened(anna, page(carrier)) | {"regions": [on.pk]}))
    refused = anna.post(page(carrier), opened(anna, page(carrier)) | {"regions": [on.pk, off.pk]})
    assert list(errors(refused)) == ["regions"]


def test_option_in_use_is_not_deleted_from_its_list_or_page(anna: Client) -> None:
    used, twice, free = (make_option("regions", label) for label in ("Ghent", "Leuven", "Free"))
    for labels in (["Ghent", "Leuven"], ["Leuven"]):
        make_vacancy(title="Unnamed", options={"regions": labels})
    way_out = "Switch it off, merge it with another one, or rename it."
    once = f"“Ghent” cannot be deleted: a vacancy uses it. {way_out}"
    more = f"“Leuven” cannot be deleted: 2 vacancies use it. {way_out}"

    many = anna.post(
        OPTIONS,
        {"action": "delete_selected", "_selected_action": [used.pk, twice.pk, free.pk], "post": "yes"},
    )
    one = anna.post(f"{OPTIONS}{used.pk}/delete/", {"post": "yes"})

    assert (many.status_code, many.context["protected"]) == (200, [once, more])
    assert (one.status_code, one.context["protected"]) == (200, [once])
    assert once in one.content.decode()
    assert b"Unnamed" not in one.content
    assert FilterOption.objects.count() == 3
    assert saved(anna.post(f"{OPTIONS}{free.pk}/delete/", {"post": "yes"}))
    assert sorted(FilterOption.objects.values_list("label", flat=True)) == ["Ghent", "Leuven"]


def test_merge_asks_which_option_to_keep_and_reports_the_count(anna: Client) -> None:
    ghent, gent, other = (make_option("regions", label) for label in ("Ghent", "Gent", "Leuven"))
    first, second = (make_vacancy(options={"regions": labels}) for labels in (["Gent"], ["Gent", "Leuven"]))
    picked = {"action": "merge", "_selected_action": [ghent.pk, gent.pk], "select_across": "0", "index": "0"}

    requested = anna.post(OPTIONS, picked)

    assert requested.context["form"].fields["into"].initial == gent.pk  # the one in use
    assert FilterOption.objects.count() == 3
    wrong = anna.post(OPTIONS, picked | {"confirmed": "1", "into": other.pk})
    assert wrong.context["form"].errors
    done = anna.post(OPTIONS, picked | {"confirmed": "1", "into": ghent.pk}, follow=True)
    assert [str(message) for message in done.context["messages"]] == [
        "“Gent” was replaced by “Ghent” in 2 vacancies."
    ]
    carried = [
        list(vacancy.choices.order_by("position").values_list("option__label", flat=True))
        for vacancy in (first, second)
    ]
    assert carried == [["Ghent"], ["Ghent", "Leuven"]]


def test_merge_of_all_matching_options_covers_all_pages(anna: Client) -> None:
    """The list shows 50 rows. "Select all" includes the next pages, also after the confirmation."""
    options = [make_option("regions", f"Region {number:02}") for number in range(60)]
    shown = [option.pk for option in options[:50]]
    query = f"{OPTIONS}?filter__id__exact={options[0].filter_id}"
    picked = {"action": "merge", "_selected_action": shown, "select_across": "1", "index": "0"}
    requested = anna.post(query, picked)
    assert len(requested.context["some"]) == 60
    hidden = re.findall(r'<input type="hidden" name="([\w-]+)" value="(\w*)"', requested.content.decode())
    again: dict[str, list[str]] = {}
    for name, value in hidden:
        again.setdefault(name, []).append(value)

    anna.post(query, again | {"into": [str(options[0].pk)]})

    assert [option.label for option in FilterOption.objects.all()] == ["Region 00"]


@pytest.mark.parametrize("labels", [["Ghent"], ["Ghent", "Nurse"]])
def test_merge_needs_several_options_of_one_filter(anna: Client, labels: list[str]) -> None:
    options = {"Ghent": make_option("regions", "Ghent"), "Nurse": make_option("types", "Nurse")}
    picked = [options[label].pk for label in labels]
    done = anna.post(OPTIONS, {"action": "merge", "_selected_action": picked}, follow=True)
    assert [str(m) for m in done.context["messages"]] == ["Choose 2 to 100 options of one filter."]
    assert FilterOption.objects.count() == 2


def test_merge_needs_the_delete_permission(client: Client) -> None:
    options = [make_option("regions", label) for label in ("Ghent", "Gent")]
    user = User.objects.create_user("editor", is_staff=True)
    rights = ("view_filteroption", "change_filteroption", "add_filteroption")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(user)
    picked = {"action": "merge", "_selected_action": [option.pk for option in options]}

    client.post(OPTIONS, picked | {"confirmed": "1", "into": options[0].pk})

    assert FilterOption.objects.count() == 2


def test_restore_reports_a_merged_option(anna: Client) -> None:
    vacancy = make_vacancy(options={"regions": ["Gent", "Leuven"]})
    version = record(vacancy, Change.CREATED, author=None, at=NOW)
    operations.merge_options(into=make_option("regions", "Ghent"), others=[make_option("regions", "Gent")])

    response = anna.post(f"{LIST}{vacancy.pk}/versions/{version.pk}/", follow=True)

    assert "Not restored because they no longer exist: Gent." in [
        str(message) for message in response.context["messages"]
    ]
    assert list(VacancyOption.objects.values_list("option__label", flat=True)) == ["Leuven"]
