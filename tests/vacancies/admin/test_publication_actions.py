"""Publication actions, on the page of a vacancy and on the list."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from tests.conftest import NOW
from tests.factories import make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, ask, opened, page, run, saved
from vacancies.admin.publication import actions as publication_actions
from vacancies.admin.publication import bulk as bulk_publication
from vacancies.choices import State
from vacancies.history.versions import record
from vacancies.models import Autosave, Change, Vacancy, Version
from vacancies.operations import publication

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DAY = timedelta(days=1)
NAMES = ("publish", "schedule", "unpublish", "extend", "archive", "duplicate")
STATES: dict[str, dict[str, Any]] = {
    "draft": {"status": "draft", "publish_from": None},
    "scheduled": {"publish_from": NOW + DAY},
    "published": {"publish_from": NOW - DAY, "publish_until": NOW + 9 * DAY},
    "expired": {"publish_from": NOW - 2 * DAY, "publish_until": NOW - DAY},
    "unpublished": {"status": "unpublished"},
    "archived": {"status": "archived"},
}


# --- on the page of a vacancy ---


@pytest.mark.slow("opens a form in each state")
def test_page_offers_the_applicable_actions_and_confirms_them(anna: Client, at: datetime) -> None:
    for state, offered in {
        "draft": ["publish", "schedule", "archive", "duplicate"],
        "scheduled": ["publish", "schedule", "unpublish", "duplicate"],  # no closing date to extend
        "published": ["unpublish", "extend", "duplicate"],
        "expired": ["publish", "schedule", "unpublish", "extend", "archive", "duplicate"],
        "unpublished": ["publish", "schedule", "archive", "duplicate"],
        "archived": ["publish", "schedule", "duplicate"],
    }.items():
        vacancy = make_vacancy(**STATES[state])
        before = Vacancy.objects.values().get(pk=vacancy.pk)
        head = anna.get(page(vacancy)).context["head"]
        urls = [each["url"] for each in (head["main"], *head["menu"]) if each]
        always = ("template", "application-form", "team", "delete")
        assert sorted(each for each in urls if each.startswith(LIST)) == sorted(
            f"{LIST}{vacancy.pk}/{name}/" for name in (*offered, *always)
        )
        for name in NAMES:
            assert anna.get(f"{LIST}{vacancy.pk}/{name}/").status_code == 200
        assert (Vacancy.objects.values().get(pk=vacancy.pk), Version.objects.count()) == (before, 0)


def test_publish_page_lists_blockers_and_content_warnings(anna: Client) -> None:
    vacancy = make_vacancy(title="NURSE WANTED", description="", **STATES["draft"])
    Vacancy.objects.update(brand=None)

    response = anna.get(f"{LIST}{vacancy.pk}/publish/")

    assert response.context["publish_blockers"] == [
        "A vacancy needs a brand to be published.",
        "A vacancy needs a description to be published.",
    ]
    assert {
        "the title is in capitals",
        "has no options, so no filter finds it",
        "nobody can apply, because the form does not ask for the applicant’s e-mail address",
    } <= {str(text) for text in response.context["warnings"]}
    assert 'type="submit"><span' not in response.content.decode()
    assert messages_of(anna.post(f"{LIST}{vacancy.pk}/publish/")) == [
        "“NURSE WANTED” was not changed. A vacancy needs a brand to be published. A vacancy needs "
        "a description to be published."
    ]
    assert Vacancy.objects.get().state == State.DRAFT


def changes(client: Client, vacancy: Vacancy) -> tuple[bool, dict[str, str]]:
    context = client.get(f"{LIST}{vacancy.pk}/publish/").context
    return context["was_public"], {each.name: str(each.marked) for each in context["changes"]}


def test_publish_page_compares_with_the_last_public_version(
    anna: Client, time_machine: Any
) -> None:
    time_machine.move_to(NOW, tick=False)
    author = User.objects.get(username="anna")
    vacancy = make_vacancy(title="Nurse", description="<p>Care</p>", **STATES["draft"])
    record(vacancy, Change.CREATED, author=author, at=NOW)
    is_known, all_of_it = changes(anna, vacancy)
    assert (is_known, all_of_it["title"]) == (False, "<div>Nurse</div>")
    # scheduled, but never public
    chosen = Vacancy.objects.filter(pk=vacancy.pk)
    publication.schedule(vacancies=chosen, publish_from=NOW + 2 * DAY, at=NOW, author=author)
    time_machine.move_to(NOW + DAY, tick=False)
    assert changes(anna, vacancy) == (False, all_of_it)
    # public, then unpublished and edited
    time_machine.move_to(NOW + 3 * DAY, tick=False)
    publication.unpublish(vacancies=chosen, at=NOW + 3 * DAY, author=author)
    assert changes(anna, vacancy) == (True, {})
    Vacancy.objects.update(title="Head nurse")
    record(vacancy, Change.CHANGED, author=author, at=NOW + 4 * DAY)
    assert changes(anna, vacancy) == (
        True,
        {"title": "<div><del>Nurse</del> <ins>Head nurse</ins></div>"},
    )


def test_publish_page_compares_with_an_imported_public_version(anna: Client, at: datetime) -> None:
    vacancy = make_vacancy(title="Nurse", publish_from=NOW - 9 * DAY)
    later = {"publish_from_0": "2026-04-01", "title": "Cook"}
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | later))

    assert changes(anna, vacancy) == (
        True,
        {"title": "<div><del>Nurse</del> <ins>Cook</ins></div>"},
    )


def test_schedule_and_extend_set_the_date(anna: Client, at: datetime) -> None:
    draft, published = make_vacancy(**STATES["draft"]), make_vacancy(**STATES["published"])
    begin = {"publish_from_0": "2026-03-09", "publish_from_1": "08:00"}
    assert saved(anna.post(f"{LIST}{draft.pk}/schedule/", begin))
    assert saved(anna.post(f"{LIST}{published.pk}/extend/", {"day": "2026-03-31"}))

    draft.refresh_from_db()
    published.refresh_from_db()
    assert (draft.status, draft.publish_from) == ("published", datetime(2026, 3, 9, 8, tzinfo=UTC))
    assert published.publish_until == datetime(2026, 4, 1, tzinfo=UTC)


def test_single_action_leads_to_its_vacancy(anna: Client) -> None:
    vacancy = make_vacancy()
    assert anna.post(f"{LIST}{vacancy.pk}/unpublish/")["Location"] == page(vacancy)
    response = anna.post(f"{LIST}{vacancy.pk}/duplicate/")
    assert response["Location"] == page(Vacancy.objects.exclude(pk=vacancy.pk).get())
    for number in ("0", "x", "9" * 30):
        assert anna.get(f"{LIST}{number}/publish/").status_code == 404, number


# --- on the list ---


def test_changelist_action_asks_once_for_the_date_and_reports_each_refusal(anna, at):
    rows = [make_vacancy(title=f"Row {n}", **STATES["published"]) for n in range(3)]
    rows.append(make_vacancy(title="Endless", publish_from=NOW - DAY))

    requested = ask(anna, "extend", rows)

    text = (
        "The closing date 11 Mar 2026, 09:30 becomes 25 Mar 2026 (2 weeks) or 8 Apr 2026 (4 weeks)."
    )
    assert [
        (row.name, row.notes) for section in requested.context["sections"] for row in section.rows
    ] == [
        *((f"Row {n}", [text]) for n in range(3)),
        ("Endless", ["It has no closing date."]),
    ]
    sent = {"vacancies": str(requested.context["selection"]), "back": LIST}
    assertContains(anna.post(f"{LIST}bulk/extend/", sent | {"day": "x"}), 'value="x"')
    assert run(anna, "extend", rows, day="2026-03-31") == [
        "3 vacancies were extended.",
        "“Endless” was not changed. It has no closing date.",
    ]
    ends = set(Vacancy.objects.values_list("publish_until", flat=True))
    assert ends == {None, datetime(2026, 4, 1, tzinfo=UTC)}


def test_extended_vacancies_are_shown_after_the_action_also_without_the_filter(anna, at):
    [row] = rows = [make_vacancy(**STATES["published"])]
    selection = str(ask(anna, "extend", rows).context["selection"])
    sent = {"vacancies": selection, "back": f"{LIST}?attention=ending&view=3&o=last_day", "by": "4"}
    response = anna.post(f"{LIST}bulk/extend/", sent)
    assert response["Location"] == f"{LIST}?view=all&o=last_day"
    assert row in anna.get(response["Location"]).context["cl"].result_list


def test_publishing_is_not_offered_while_the_user_has_unsaved_changes(anna, at):
    vacancy = make_vacancy(status="draft", publish_from=None)
    user = User.objects.get(username="anna")
    Autosave.objects.store(user=user, vacancy=vacancy.pk, page="a", data={"title": ["New"]}, at=NOW)
    text = "You have unsaved changes of this vacancy. Save or discard them first."

    for name in ("publish", "schedule"):
        response = anna.get(f"{LIST}{vacancy.pk}/{name}/")
        assert response.context["publish_blockers"] == [text], name
        assertNotContains(response, 'type="submit"><span class="material-symbols-outlined"')
    Autosave.objects.mark_saved(user=user, vacancy=vacancy.pk, page="a", at=NOW)
    assert text not in anna.get(f"{LIST}{vacancy.pk}/publish/").context["publish_blockers"]


def test_publish_page_frames_the_page_that_the_public_will_see(anna, at):
    vacancy = make_vacancy(
        status="draft", publish_from=None, description="<p>We <strong>care</strong></p>"
    )
    page = anna.get(f"{LIST}{vacancy.pk}/publish/")
    [(_language, address)] = page.context["previews"]
    assertContains(page, f'src="{address}"')
    framed = anna.get(address)
    assertContains(framed, "<p>We <strong>care</strong></p>")
    assert framed["X-Frame-Options"] == "SAMEORIGIN"


def test_action_names_ten_refusals_and_counts_the_rest(anna: Client) -> None:
    rows = [make_vacancy(title=f"Row {n:02}", status="unpublished") for n in range(13)]
    assert run(anna, "unpublish", rows) == [
        *(f"“Row {n:02}” was not changed. It is not published." for n in range(10)),
        "3 more vacancies were not changed.",
    ]


def test_number_of_vacancies_and_of_duplicates_is_limited(anna: Client, monkeypatch: Any) -> None:
    rows = [make_vacancy(title=f"Row {n}") for n in range(3)]
    monkeypatch.setattr(publication_actions, "COPIES", 2)
    assert run(anna, "duplicate", rows) == [
        "2 vacancies were duplicated.",
        "“Row 2” was not changed. At most 2 vacancies can be duplicated at a time.",
    ]
    copies = Vacancy.objects.filter(status="draft").order_by("pk").values_list("title", flat=True)
    assert list(copies) == ["Copy of Row 0", "Copy of Row 1"]
    monkeypatch.setattr(bulk_publication, "MAX_SELECTED", 2)
    assert (
        run(anna, "unpublish", rows)[-1]
        == "Nothing was changed. Choose at most 2 vacancies at a time."
    )
    assert {row.state for row in Vacancy.objects.exclude(status="draft")} == {State.PUBLISHED}
