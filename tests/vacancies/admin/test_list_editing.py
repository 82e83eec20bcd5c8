"""Changing the closing date and "featured" in the list of vacancies."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST
from vacancies.dates import end_of_day, last_day
from vacancies.models import Vacancy, Version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

EDIT = f"{LIST}?view=all&edit=1"
TODAY = timezone.localdate()


def row(vacancy: Vacancy, **changes: Any) -> dict[str, Any]:
    """Return what a browser posts of the row of `vacancy` with `changes` ("last_day", "is_hot")."""
    until, prefix = vacancy.publish_until, f"row{vacancy.pk}"
    day = last_day(until).isoformat() if until else ""
    data = {f"initial-{prefix}-last_day": day, f"{prefix}-last_day": changes.get("last_day", day)}
    data[f"initial-{prefix}-is_hot"] = str(vacancy.is_hot)
    if changes.get("is_hot", vacancy.is_hot):
        data[f"{prefix}-is_hot"] = "on"
    return data


def save(client: Client, *rows: dict[str, Any], vacancies: Any, **more: Any) -> Any:
    data: dict[str, Any] = {"row": [vacancy.pk for vacancy in vacancies], "_save": "1"} | more
    for each in rows:
        data |= each
    return client.post(EDIT, data, follow=True)


def in_days(days: int) -> datetime:
    return end_of_day(TODAY + timedelta(days=days))


def test_rows_are_edited_only_on_request(anna: Client) -> None:
    vacancy = make_vacancy(publish_until=in_days(3))
    assertNotContains(anna.get(LIST), f"row{vacancy.pk}")
    page = anna.get(EDIT)
    assertContains(
        page, f'name="row{vacancy.pk}-last_day" value="{(TODAY + timedelta(days=3)).isoformat()}"'
    )
    assertContains(page, f'aria-label="Closing date of “{vacancy.title}”"')
    anna.post(f"{LIST}list-preference/", {"columns": ["", "brand"]})
    assert anna.get(LIST).context["shown_columns"] == ("brand",)
    assert anna.get(EDIT).context["shown_columns"] == ("brand", "last_day", "hot")


def test_changed_rows_are_saved_with_a_version(anna: Client) -> None:
    first, second, third = (make_vacancy(publish_until=in_days(n)) for n in (3, 4, 5))
    new = TODAY + timedelta(days=20)

    response = save(
        anna,
        row(first, last_day=new.isoformat()),
        row(second, is_hot=True),
        row(third),
        vacancies=[first, second, third],
    )

    assert messages_of(response) == ["2 vacancies were saved."]
    assert response.redirect_chain == [(f"{LIST}?view=all", 302)]
    assert list(Vacancy.objects.order_by("pk").values_list("publish_until", "is_hot")) == [
        (end_of_day(new), False),
        (in_days(4), True),
        (in_days(5), False),
    ]
    changed = Version.objects.filter(change="changed").order_by("pk")
    assert [(each.vacancy_id, sorted(each.content), str(each.author)) for each in changed] == [
        (first.pk, ["publish_until"], "anna"),
        (second.pk, ["is_hot"], "anna"),
    ]


def test_row_is_validated_like_the_form_and_the_others_are_saved(anna: Client) -> None:
    wrong, right = make_vacancy(publish_until=in_days(3)), make_vacancy(publish_until=in_days(4))
    past = (TODAY - timedelta(days=1)).isoformat()

    response = save(
        anna, row(wrong, last_day=past), row(right, last_day=""), vacancies=[wrong, right]
    )

    assert messages_of(response) == [
        "1 vacancy was saved.",
        "1 vacancy was not saved. The reason is at its row.",
    ]
    assertContains(response, "The closing date has passed.")
    assertContains(response, f'value="{past}"')  # what was typed
    assert [row.publish_until for row in Vacancy.objects.order_by("pk")] == [in_days(3), None]
    assert Version.objects.filter(vacancy=wrong.pk, change="changed").count() == 0


@pytest.mark.slow("opens several pages of the admin")
def test_invalid_date_is_refused_and_kept(anna: Client) -> None:
    vacancy = make_vacancy(publish_until=in_days(3))
    for day in ("tomorrow", "2026-02-30", "9999-12-31", "0000-00-00", "\0"):
        response = save(anna, row(vacancy, last_day=day), vacancies=[vacancy])
        assert response.status_code == 200
        assert messages_of(response) == ["1 vacancy was not saved. The reason is at its row."], day
    vacancy.refresh_from_db()
    assert vacancy.publish_until == in_days(3)


def test_change_by_somebody_else_is_not_overwritten(anna: Client) -> None:
    vacancy = make_vacancy(title="Nurse", publish_until=in_days(3))
    mine = row(vacancy, last_day=(TODAY + timedelta(days=20)).isoformat())
    Vacancy.objects.update(publish_until=in_days(9), updated_at=timezone.now())

    response = save(anna, mine, vacancies=[vacancy])

    assertContains(response, "Not saved: somebody else changed “Nurse” in the meantime.")
    assertContains(response, f'-last_day" value="{(TODAY + timedelta(days=9)).isoformat()}"')
    vacancy.refresh_from_db()
    assert vacancy.publish_until == in_days(9)
    again = save(anna, row(vacancy, last_day=""), vacancies=[vacancy])
    assert messages_of(again) == ["1 vacancy was saved."]


def test_change_of_another_field_is_no_conflict(anna: Client) -> None:
    """Nor is one in a row that was not touched."""
    exact = datetime(2199, 5, 6, 10, 30, tzinfo=UTC)  # within a day
    vacancy = make_vacancy(title="Nurse", publish_until=in_days(3))
    other = make_vacancy(publish_until=in_days(3), is_hot=True)
    forms = row(vacancy, is_hot=True), row(other)
    Vacancy.objects.update(title="Night nurse", publish_until=exact, updated_at=timezone.now())
    Vacancy.objects.filter(pk=other.pk).update(publish_until=None, is_hot=False)

    save(anna, *forms, vacancies=[vacancy, other])

    found = Vacancy.objects.order_by("pk").values_list("title", "publish_until", "is_hot")
    assert list(found) == [("Night nurse", exact, True), ("Night nurse", None, False)]
    assert list(Version.objects.values_list("change", "author__username").order_by("pk")) == [
        ("found", None),
        ("changed", "anna"),
    ]


def test_rows_of_other_brands_are_not_changed(colleague: Client) -> None:
    other = make_vacancy(title="Secret", brand=make_brand("Other"), publish_until=in_days(3))
    mine = make_vacancy(brand=make_brand("Mine"), publish_until=in_days(3))
    new = (TODAY + timedelta(days=20)).isoformat()

    response = save(
        colleague, row(other, last_day=new), row(mine, last_day=new), vacancies=[other, mine]
    )

    assert messages_of(response) == [
        "1 vacancy was saved.",
        "1 vacancy was not saved: it was deleted, or belongs to another brand.",
    ]
    assertNotContains(response, "Secret")
    other.refresh_from_db()
    assert other.publish_until == in_days(3)


def test_rows_that_do_not_exist_change_nothing(anna: Client) -> None:
    vacancy = make_vacancy(publish_until=in_days(3))
    for sent in ([], [""], ["x"], ["1\0"], ["9" * 30], ["-1"], ["999999"]):
        response = anna.post(EDIT, {"row": sent, "_save": "1", "row999999-is_hot": "on"})
        assert response.status_code in (200, 302), sent
    vacancy.refresh_from_db()
    assert vacancy.publish_until == in_days(3)


def test_rows_to_edit_take_no_more_queries(
    anna: Client, django_assert_max_num_queries: Any
) -> None:
    found = []
    for rows in (1, 2):
        for _ in range(rows):
            make_vacancy(publish_until=in_days(3))
        anna.get(EDIT)
        with django_assert_max_num_queries(12) as queries:
            anna.get(EDIT)
        found.append(len(queries))
    assert found[0] == found[1]
