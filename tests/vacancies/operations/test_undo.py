"""Deleting vacancies, and undoing publication actions, copies and deletions."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet

from tests.applications.makers import make_application
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.history.versions import read_content, record
from vacancies.models import Attachment, Change, Vacancy, Version
from vacancies.operations import publication
from vacancies.operations import undo as undoing
from vacancies.operations.save import Edit, save_content
from vacancies.operations.undo import UNDO_TIME, delete, undo_versions, versions_of_action

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
HOUR, DAY, LATER = timedelta(hours=1), timedelta(days=1), NOW + timedelta(minutes=5)
ALL = Vacancy.objects.all
STATES: dict[str, dict[str, Any]] = {
    "draft": {"status": "draft", "publish_from": None},
    "scheduled": {"publish_from": NOW + DAY, "publish_until": NOW + 9 * DAY},
    "published": {"publish_from": NOW - 2 * DAY, "publish_until": NOW + 9 * DAY},
    "expired": {"publish_from": NOW - 2 * DAY, "publish_until": NOW - DAY},
    "unpublished": {"status": "unpublished", "publish_from": NOW - 2 * DAY},
}
ACTIONS: dict[str, Any] = {
    "publish": publication.publish,
    "schedule": lambda **values: publication.schedule(publish_from=NOW + 3 * DAY, **values),
    "unpublish": publication.unpublish,
    "extend": lambda **values: publication.extend(day=date(2026, 5, 1), **values),
    "archive": publication.archive,
    "feature": publication.feature,
}


@pytest.fixture
def anna() -> User:
    return User.objects.create_user("anna")


def make_all() -> None:
    """A vacancy in each state. One was imported and has no version."""
    for name, values in STATES.items():
        vacancy = make_vacancy(title=name, updated_at=NOW - DAY, **values)
        if name != "published":
            record(vacancy, Change.CREATED, author=None, at=NOW - DAY)


def rows() -> list[dict[str, Any]]:
    return [{**row, "updated_at": None} for row in Vacancy.objects.order_by("pk").values()]


def recorded(result: publication.BulkResult, author: User) -> QuerySet[Version]:
    assert result.first_version is not None
    return versions_of_action(result.first_version, author=author, at=LATER)


@pytest.mark.parametrize("action", ACTIONS)
def test_undo_restores_exactly_what_was_before(anna: User, action: str) -> None:
    make_all()
    before = rows()
    done = ACTIONS[action](vacancies=ALL(), at=NOW, author=anna)
    assert done.done
    assert rows() != before

    undone = undo_versions(recorded(done, anna), author=anna, at=LATER)

    assert (undone.done, undone.refused, rows()) == (done.done, {}, before)
    assert set(ALL().filter(pk__in=done.done).values_list("updated_at", flat=True)) == {LATER}
    latest = Version.objects.filter(vacancy__in=done.done, created_at=LATER)
    assert {(version.change, version.author) for version in latest} == {("restored", anna)}
    # once
    again = undo_versions(recorded(done, anna), author=anna, at=LATER)
    assert (again.done, len(again.refused), rows()) == ([], len(done.done), before)


def test_undo_leaves_what_somebody_changed_since(anna: User) -> None:
    dated, named, same = (make_vacancy(title=title) for title in ("First", "Second", "Third"))
    done = publication.unpublish(vacancies=ALL(), at=NOW, author=anna)
    ALL().filter(pk=dated.pk).update(updated_at=NOW + HOUR / 60, publish_until=NOW + 3 * DAY)
    ALL().filter(pk=named.pk).update(updated_at=NOW + HOUR / 60, title="Another title")

    undone = undo_versions(recorded(done, anna), author=anna, at=LATER)

    assert undone.done == [same.pk]
    reasons = [list(each.values()) for each in undone.refused.values()]
    assert reasons == [["It was changed in the meantime."]] * 2
    found = ALL().order_by("pk").values_list("status", flat=True)
    assert list(found) == ["unpublished", "unpublished", "published"]


def test_undo_notices_a_later_action_and_a_deletion(anna: User) -> None:
    first, second = make_vacancy(title="First"), make_vacancy(title="Second")
    done = publication.unpublish(vacancies=ALL(), at=NOW, author=anna)
    # In the same microsecond.
    publication.publish(vacancies=ALL().filter(pk=first.pk), at=NOW, author=anna)
    delete(vacancies=ALL().filter(pk=second.pk), at=LATER, author=anna)

    undone = undo_versions(recorded(done, anna), author=anna, at=LATER)

    assert (undone.done, {vacancy.pk for vacancy in undone.refused}) == ([], {first.pk, second.pk})
    assert [vacancy.status for vacancy in ALL()] == ["published"]


def test_only_the_author_finds_an_action_for_half_an_hour(anna: User) -> None:
    make_vacancy()
    done = publication.unpublish(vacancies=ALL(), at=NOW, author=anna)
    other = User.objects.create_user("other")

    def found(author: User, at: Any) -> list[int]:
        versions = versions_of_action(done.first_version or 0, author=author, at=at)
        return list(versions.values_list("pk", flat=True))

    assert found(anna, NOW + UNDO_TIME - timedelta(seconds=1)) == [done.first_version]
    assert found(anna, NOW + UNDO_TIME) == found(other, LATER) == []
    assert not versions_of_action(10**17, author=anna, at=LATER).exists()


def test_two_actions_of_a_user_are_undone_separately(anna: User) -> None:
    first, second = make_vacancy(), make_vacancy()
    one = publication.unpublish(vacancies=ALL().filter(pk=first.pk), at=NOW, author=anna)
    publication.unpublish(vacancies=ALL().filter(pk=second.pk), at=NOW + HOUR / 60, author=anna)

    assert undo_versions(recorded(one, anna), author=anna, at=LATER).done == [first.pk]


# --- imports ---


def imported(vacancy: Vacancy, anna: User, **wanted: Any) -> QuerySet[Version]:
    save_content(vacancy, Edit(wanted), author=anna, at=NOW)
    return versions_of_action(Version.objects.latest("pk").pk, author=anna, at=LATER)


def test_undo_of_an_import_ends_a_vacancy_again_that_had_ended(anna: User) -> None:
    """With its old closing date, without a description, and also if another value cannot be
    restored.
    """
    brand, live = make_brand(), {"publish_until": (NOW + 9 * DAY).isoformat()}
    for values, later in (
        ({}, {}),
        ({"description": ""}, {}),
        ({"reference": "A-1"}, {"reference": "A-2"}),
    ):
        vacancy = make_vacancy(brand=brand, **STATES["expired"] | values)
        versions = imported(vacancy, anna, **live, **later)
        assert ALL().published(at=LATER).filter(pk=vacancy.pk).exists()
        if later:
            make_vacancy(brand=brand, title="Other", reference="A-1", **STATES["draft"])

        undone = undo_versions(versions, author=anna, at=LATER)

        vacancy.refresh_from_db()
        assert (undone.done, undone.refused) == ([vacancy.pk], {})
        assert (vacancy.publish_until, vacancy.reference) == (NOW - DAY, later.get("reference", ""))
    assert list(undone.notes.values()) == [
        "Not restored: Reference. Another vacancy of this brand has this reference."
    ]


def test_undo_of_an_import_keeps_what_a_colleague_changed_since(anna: User) -> None:
    vacancy = make_vacancy(title="Nurse", location="Ghent", **STATES["expired"])
    versions = imported(vacancy, anna, title="Cook", publish_until=(NOW + 9 * DAY).isoformat())
    save_content(
        vacancy, Edit({"title": "Head cook", "location": "Bruges"}), author=None, at=NOW + HOUR / 60
    )

    undone = undo_versions(versions, author=anna, at=LATER)

    vacancy.refresh_from_db()
    found = vacancy.title, vacancy.location, vacancy.publish_until
    assert found == ("Head cook", "Bruges", NOW - DAY)
    notes = {vacancy: "Not restored: Title. It was changed in the meantime."}
    assert (undone.done, undone.notes) == ([vacancy.pk], notes)
    again = undo_versions(versions, author=anna, at=LATER)
    assert (again.done, again.refused) == ([], {vacancy: {"": "It was changed in the meantime."}})


def test_undo_of_an_import_unpublishes_a_new_vacancy_with_applications(anna: User) -> None:
    vacancy = make_application().vacancy
    version = record(vacancy, Change.CREATED, author=anna, at=NOW)
    Vacancy.objects.update(updated_at=NOW)

    undone = undo_versions(Version.objects.filter(pk=version.pk), author=anna, at=LATER)

    vacancy.refresh_from_db()
    assert (undone.done, undone.refused, vacancy.status) == ([], {}, "unpublished")
    assert list(undone.notes.values()) == [
        "It has applications (1) and cannot be deleted. Archive it instead. It was unpublished."
    ]


# --- copies and deletions ---


def test_undo_deletes_copies_that_nobody_changed(anna: User) -> None:
    original = make_vacancy(title="Nurse")
    copies = [publication.duplicate(vacancy=original, at=NOW, author=anna) for _ in range(2)]
    first = Version.objects.get(vacancy=copies[0])
    Vacancy.objects.filter(pk=copies[1].pk).update(title="Head nurse", updated_at=LATER)

    undone = undo_versions(
        versions_of_action(first.pk, author=anna, at=LATER), author=anna, at=LATER
    )

    assert undone.done == [copies[0].pk]
    assert sorted(ALL().values_list("title", flat=True)) == ["Head nurse", "Nurse"]


@pytest.mark.parametrize("state", STATES)
def test_undo_restores_a_deleted_vacancy_as_it_was(anna: User, state: str) -> None:
    vacancy = make_vacancy(
        title="Nurse",
        image="vacancies/a.png",
        options={"regions": ["Ghent", "Antwerp"]},
        recruiters=("Bob",),
        audience="both",
        is_hot=True,
        **STATES[state],
    )
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", file="attachments/x.pdf")
    before = read_content(vacancy)

    done = delete(vacancies=ALL(), at=NOW, author=anna)
    assert (done.done, ALL().count(), Attachment.objects.count()) == ([vacancy.pk], 0, 0)
    undone = undo_versions(recorded(done, anna), author=anna, at=LATER)

    assert (undone.done, undone.refused, undone.notes) == ([vacancy.pk], {}, {})
    assert read_content(ALL().get()) == before


def test_deletion_refuses_vacancies_with_applications(anna: User) -> None:
    application = make_application()
    free = make_vacancy(title="Free")

    for is_preview in (True, False):
        result = delete(vacancies=ALL(), at=NOW, author=anna, is_preview=is_preview)
        assert result.done == [free.pk]
        assert result.refused == {
            application.vacancy: {
                "": "It has applications (1) and cannot be deleted. Archive it instead."
            }
        }
    assert list(ALL()) == [application.vacancy]


def test_number_of_deletions_is_limited(anna: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(undoing, "DELETED", 2)
    for _ in range(3):
        make_vacancy()
    result = delete(vacancies=ALL(), at=NOW, author=anna)
    assert (len(result.done), len(result.refused), ALL().count()) == (2, 1, 1)


def test_number_of_queries_of_a_deletion_is_fixed(
    anna: User, django_assert_max_num_queries: Any
) -> None:
    pks, found = [make_vacancy(options={"regions": ["Ghent"]}).pk for _ in range(4)], []
    for chosen in (pks[:1], pks[1:]):
        with django_assert_max_num_queries(40) as queries:
            delete(vacancies=ALL().filter(pk__in=chosen), at=NOW, author=anna)
        found.append(len(queries))
    assert found[0] == found[1]


# --- previews ---


@pytest.mark.parametrize("action", [*ACTIONS, "delete"])
def test_preview_changes_nothing_and_says_what_would_happen(anna: User, action: str) -> None:
    make_all()
    before, versions = list(ALL().order_by("pk").values()), Version.objects.count()
    run = ACTIONS.get(action, delete)

    seen = run(vacancies=ALL(), at=NOW, author=anna, is_preview=True)

    assert (list(ALL().order_by("pk").values()), Version.objects.count()) == (before, versions)
    done = run(vacancies=ALL(), at=NOW, author=anna)
    assert (seen.done, seen.refused, seen.first_version) == (done.done, done.refused, None)
