"""Bulk actions of the list of vacancies: what they ask, and how they are undone."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from jobsite.office.vacancy import VacancyAdmin
from tests.applications.makers import make_application
from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, ask, page, texts
from vacancies.admin.publication.selection import VacancySelection
from vacancies.choices import State
from vacancies.models import Vacancy, Version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DAY = timedelta(days=1)
ACTIONS = (
    "publish",
    "schedule",
    "unpublish",
    "extend",
    "feature",
    "unfeature",
    "archive",
    "duplicate",
    "delete",
)
FULL: dict[str, Any] = {"image_url": "https://acme.test/a.png", "contact": "<p>Call us</p>"}


def asked(response: Any) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """Return what a confirmation page lists: headings, and rows with their notes."""
    sections = response.context["sections"]
    return [
        (each.heading, [(row.name, list(map(str, row.notes))) for row in each.rows])
        for each in sections
    ]


def undo_url(response: Any) -> str:
    [found] = re.findall(r'formaction="([^"]+)"', " ".join(messages_of(response)))
    return found


def confirm(client: Client, action: str, vacancies: list[Vacancy], **values: str) -> Any:
    selection = ask(client, action, vacancies).context["selection"]
    sent = {"vacancies": str(selection), "back": LIST, **values}
    return client.post(f"{LIST}bulk/{action}/", sent)


@pytest.mark.slow("opens several pages of the admin")
def test_every_action_asks_first(anna: Client) -> None:
    rows = [make_vacancy(title=f"Nurse {n}") for n in range(2)]
    before = list(Vacancy.objects.order_by("pk").values())
    for action in ACTIONS:
        response = ask(anna, action, rows)

        assert [name for _, section in asked(response) for name, _ in section] == [
            "Nurse 0",
            "Nurse 1",
        ]
        assert (list(Vacancy.objects.order_by("pk").values()), Version.objects.count()) == (
            before,
            0,
        ), action


def test_delete_is_the_last_action(anna: Client) -> None:
    make_vacancy()
    offered = [name for name, _ in anna.get(LIST).context["action_form"].fields["action"].choices]
    assert offered == [
        "",
        "export_csv",
        "export_xlsx",
        *(f"{name}_selected" for name in (*ACTIONS[:2], "submit", *ACTIONS[2:])),
    ]


def test_publishing_names_scheduled_dates_warnings_and_refusals(anna: Client, at: datetime) -> None:
    make_option("regions", "Ghent", employment_type="FULL_TIME")
    full = FULL | {"options": {"regions": ["Ghent"]}, "apply_url": "https://acme.test/apply"}
    placed = full | {"places": ({"locality": "Ghent", "country": "BE"},)}
    draft = {"status": "draft", "publish_from": None}
    ready, placeless = (
        make_vacancy(title="Ready", **draft, **placed),
        make_vacancy(title="Placeless", **draft, **full),
    )
    planned = make_vacancy(title="PLANNED", publish_from=NOW + DAY, **placed)
    public = make_vacancy(title="Public")
    nothing = ask(anna, "publish", [public])
    assertContains(nothing, "Back to the list")
    assertNotContains(nothing, 'class="panel-button is-main" type="submit"')

    assert asked(ask(anna, "publish", [ready, placeless, planned, public])) == [
        (
            "Check these vacancies (1)",
            [
                (
                    "PLANNED",
                    [
                        "The scheduled date 3 Mar 2026, 09:30 is replaced by the current time.",
                        "Content warnings: the title is in capitals.",
                    ],
                )
            ],
        ),
        (
            "Facts are missing for search engines (1)",
            [
                (
                    "Placeless",
                    ["Content warnings: is not shown by Google, which requires a place."],
                ),
            ],
        ),
        ("Vacancies (1)", [("Ready", [])]),
        ("Not changed (1)", [("Public", ["It is already published."])]),
    ]


def test_deletion_page_says_published_and_can_be_restored(anna: Client, at: datetime) -> None:
    public = make_vacancy(title="Public")
    planned = make_vacancy(title="Planned", publish_from=NOW + DAY)
    draft = make_vacancy(title="Draft", status="draft", publish_from=None)
    applied = make_application().vacancy

    response = ask(anna, "delete", [public, planned, draft, applied])

    assertContains(response, "A published vacancy disappears from all sites immediately.")
    assertContains(response, "A deleted vacancy can be restored")
    assert asked(response) == [
        (
            "Check these vacancies (2)",
            [
                ("Public", ["It is published and disappears from all sites."]),
                ("Planned", ["It does not go live on 3 Mar 2026, 09:30."]),
            ],
        ),
        ("Vacancies (1)", [("Draft", [])]),
        (
            "Not changed (1)",
            [
                (
                    applied.title,
                    ["It has applications (1) and cannot be deleted. Archive it instead."],
                )
            ],
        ),
    ]


def test_all_pages_are_selected(
    anna: Client, monkeypatch: Any, django_assert_max_num_queries: Any
) -> None:
    monkeypatch.setattr(VacancyAdmin, "list_per_page", 2)
    for number in range(3):
        make_vacancy(title=f"Row {number}")
    first = Vacancy.objects.order_by("-pk").first()
    data = {
        "action": "unpublish_selected",
        "_selected_action": [first.pk],
        "select_across": "1",
        "index": 0,
    }
    with django_assert_max_num_queries(20):
        response = anna.post(f"{LIST}?state=published", data)
    assert (len(response.context["selection"]), response.context["back"]) == (
        3,
        f"{LIST}?state=published",
    )
    sent = {"vacancies": str(response.context["selection"]), "back": response.context["back"]}
    assert anna.post(f"{LIST}bulk/unpublish/", sent)["Location"] == f"{LIST}?state=published"
    assert set(Vacancy.objects.values_list("status", flat=True)) == {"unpublished"}


def test_what_somebody_changed_in_the_meantime_stays(anna: Client) -> None:
    first, second = make_vacancy(title="First"), make_vacancy(title="Second")
    selection = ask(anna, "unpublish", [first, second]).context["selection"]
    Vacancy.objects.filter(pk=second.pk).update(title="Second, changed", updated_at=NOW)

    response = anna.post(f"{LIST}bulk/unpublish/", {"vacancies": str(selection)})

    assert texts(response) == [
        "1 vacancy was unpublished.",
        "“Second, changed” was not changed. Somebody changed it in the meantime. Look at it again.",
    ]
    states = dict(Vacancy.objects.values_list("title", "status"))
    assert states == {"First": "unpublished", "Second, changed": "published"}


def test_bulk_page_refuses_get_invalid_selections_and_foreign_addresses(anna, vacancy):
    for url in (f"{LIST}bulk/unpublish/", f"{LIST}undo/1/"):
        assert anna.get(url).status_code == 405
    for sent in ("", "x", "1", "1:x", "1:1,", "9" * 30 + ":1"):
        assert anna.post(f"{LIST}bulk/unpublish/", {"vacancies": sent}).status_code == 400, sent
    assert Vacancy.objects.get().state == State.PUBLISHED
    sent = {
        "vacancies": str(VacancySelection.of(Vacancy.objects.all())),
        "back": "https://evil.test/",
    }
    assert anna.post(f"{LIST}bulk/unpublish/", sent)["Location"] == LIST


# --- undo ---


def test_undo_button_restores_the_previous_publication(anna: Client, at: datetime) -> None:
    planned = make_vacancy(title="Planned", publish_from=NOW + DAY, publish_until=NOW + 9 * DAY)
    response = confirm(anna, "publish", [planned])
    assert texts(response) == ["1 vacancy was published."]
    assertContains(
        anna.get(LIST),
        '<button class="panel-button" type="submit" form="message-form" '
        f'formaction="{undo_url(response)}" name="back" value="{LIST}">Undo</button>',
    )

    undone = anna.post(undo_url(response), {"back": LIST})

    assert texts(undone) == ["Undone for 1 vacancy."]
    planned.refresh_from_db()
    assert (planned.state, planned.publish_from) == (State.SCHEDULED, NOW + DAY)
    single = anna.post(f"{LIST}{planned.pk}/unpublish/")
    undone = anna.post(undo_url(single), {"back": page(planned)})
    planned.refresh_from_db()
    assert (undone["Location"], planned.state) == (page(planned), State.SCHEDULED)


def test_undo_says_what_was_not_undone(anna: Client, at: datetime) -> None:
    first, second = make_vacancy(title="First"), make_vacancy(title="Second")
    response = confirm(anna, "unpublish", [first, second])
    Vacancy.objects.filter(pk=first.pk).update(location="Ghent", updated_at=NOW + DAY)
    undone = anna.post(undo_url(response))
    assert texts(undone)[1:] == [
        "Undone for 1 vacancy.",
        "“First” was not changed. It was changed in the meantime.",
    ]


def test_undo_is_for_the_same_user(anna: Client, colleague: Client) -> None:
    url = undo_url(confirm(anna, "unpublish", [make_vacancy(brand=make_brand("Mine"))]))
    nothing = "Nothing to undo. An action can be undone for half an hour, by the user who did it."
    assert texts(colleague.post(url)) == [nothing]
    assert texts(anna.post(f"{LIST}undo/{10**17}/"))[-1] == nothing
    assert Vacancy.objects.get().state == State.UNPUBLISHED


def test_undo_does_not_name_a_vacancy_that_moved_to_another_brand(colleague: Client) -> None:
    vacancy = make_vacancy(brand=make_brand("Mine"))
    url = undo_url(confirm(colleague, "unpublish", [vacancy]))
    Vacancy.objects.update(brand=make_brand("Other"), title="Secret", updated_at=NOW)
    response = colleague.post(url)
    assert "Secret" not in str(messages_of(response))
    assert Vacancy.objects.get().state == State.UNPUBLISHED


def test_undo_needs_the_permission_and_is_offered_with_it(colleague: Client) -> None:
    user = User.objects.get(username="colleague")
    vacancy = make_vacancy(brand=make_brand("Mine"))
    user.user_permissions.remove(Permission.objects.get(codename="add_vacancy"))
    response = confirm(colleague, "delete", [vacancy])
    assert texts(response) == ["1 vacancy was deleted."]
    assert "formaction" not in str(messages_of(response))
    first = Version.objects.get(change="deleted").pk
    assert colleague.post(f"{LIST}undo/{first}/").status_code == 403
    assert not Vacancy.objects.exists()


def test_deletion_is_logged_and_leads_to_the_list(anna: Client, vacancy: Vacancy) -> None:
    assertContains(anna.get(f"{LIST}{vacancy.pk}/delete/"), "A deleted vacancy can be restored")
    response = anna.post(f"{LIST}{vacancy.pk}/delete/")
    assert response["Location"] == LIST
    assert texts(response) == ["1 vacancy was deleted."]
    [entry] = LogEntry.objects.all()
    assert (entry.object_repr, entry.is_deletion()) == ("Nurse", True)


# --- a refused date stays in its field ---


@pytest.mark.slow("opens several pages of the admin")
def test_refused_date_stays_in_the_field_with_the_reason(anna: Client, at: datetime) -> None:
    draft = make_vacancy(status="draft", publish_from=None)
    public = make_vacancy(publish_until=datetime(2026, 3, 10, tzinfo=UTC))
    passed = "This time has passed. Publish the vacancy now instead."
    for url, values, reason in (
        (
            f"{draft.pk}/schedule",
            {"publish_from_0": "2026-03-01", "publish_from_1": "08:00"},
            passed,
        ),
        (
            f"{draft.pk}/schedule",
            {"publish_from_0": "2026-13-01", "publish_from_1": "08:00"},
            "Enter a valid date, for example 2026-03-02.",
        ),
        (f"{draft.pk}/schedule", {"publish_from_0": "9999-12-31", "publish_from_1": "23:59"}, None),
        (f"{draft.pk}/schedule", {}, "This field is required."),
        (f"{public.pk}/extend", {"day": "2026-03-01"}, "This day has passed."),
        (
            f"{public.pk}/extend",
            {"day": "2026-03-04"},
            "It is already public until then or longer.",
        ),
        (
            f"{public.pk}/extend",
            {"day": "31/31/2026"},
            "Enter a valid date, for example 2026-03-02.",
        ),
        (f"{public.pk}/extend", {"day": "9999-12-31"}, None),
        (f"{public.pk}/extend", {}, None),
    ):
        response = anna.post(f"{LIST}{url}/", values)
        errors = response.context["form"].errors
        if reason:
            assert errors == {"publish_from" if "schedule" in url else "day": [reason]}
        assert errors, (url, values)
        for value in values.values():
            assertContains(response, f'value="{value}"')
    assert Version.objects.count() == 0


def test_other_refusals_of_a_date_are_shown_above_the_fields(anna: Client, at: datetime) -> None:
    vacancy = make_vacancy(status="draft", publish_from=None, description="")
    sent = {"publish_from_0": "2026-04-01", "publish_from_1": "08:00"}
    response = anna.post(f"{LIST}{vacancy.pk}/schedule/", sent)
    assertContains(response, "A vacancy needs a description to be published.")
    assertContains(response, 'value="2026-04-01"')
