"""Concurrent writes: a decision reads its data after taking the lock, or checks it again when it
writes.

Most tests define the point at which the other writer acts, so that they are deterministic.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from forms_structure import operations as form_operations
from forms_structure.models import Form
from tests.conftest import NOW
from tests.factories import make_option, make_vacancy
from tests.parallel import at_once, waiting
from tests.vacancies.admin.forms import LIST, opened, page
from tests.vacancies.exchange.test_form_import import NAME, sections
from tests.vacancies.exchange.test_import import items
from vacancies.choices import VacancyStatus
from vacancies.exchange import importer as importer_module
from vacancies.exchange.form_importer import FormImporter
from vacancies.exchange.importer import VacancyImporter
from vacancies.exchange.sources import FormRow, SourceRow
from vacancies.history.versions import replay
from vacancies.models import Brand, Change, FilterOption, Vacancy, VacancyOption, Version
from vacancies.operations import options, publication

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("filters")]
REPEATS = range(3)  # threads do not meet in every run
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one write at a time"
)


def once(act: Callable[[], Any]) -> Callable[[], None]:
    """Return a function that calls `act` the first time only."""
    acts: Iterator[Callable[[], Any]] = iter([act])
    return lambda: next(acts, lambda: None)()


def elsewhere(act: Callable[[], Any]) -> None:
    """Call `act` and commit it on another connection."""
    (found,) = at_once(act)
    if isinstance(found, Exception):
        raise found


def step_in(monkeypatch: Any, owner: Any, name: str, act: Callable[[], Any]) -> None:
    """Call `act` once, before the first call of `owner.name`."""
    known, act = getattr(owner, name), once(act)

    def call(*args: Any, **kwargs: Any) -> Any:
        act()
        return known(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)


# --- pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_brands_of_one_name_give_one_form_error(pair: list[Client], _: int) -> None:
    add = partial(
        Client.post, path="/admin/vacancies/brand/add/", data={"name": "Acme", "description": ""}
    )

    answers = at_once(*(partial(add, client) for client in pair))

    assert sorted(answer.status_code for answer in answers) == [200, 302]
    reported = next(answer for answer in answers if answer.status_code == 200)
    assert reported.context["adminform"].form.errors == {
        "name": ["Brand with this Name already exists."]
    }
    assert list(reported.context["messages"]) == []
    assert list(Brand.objects.values_list("name", flat=True)) == ["Acme"]


@on_postgresql
def test_option_merged_during_a_save_is_a_form_error(pair: list[Client], monkeypatch: Any) -> None:
    vacancy = make_vacancy()
    ghent, gent = make_option("regions", "Ghent"), make_option("regions", "Gent")
    form = opened(pair[0], page(vacancy)) | {"regions": [str(gent.pk)]}
    merge = partial(options.merge_options, into=ghent, others=[gent])
    step_in(monkeypatch, VacancyOption.objects, "bulk_create", lambda: elsewhere(merge))

    answer = pair[0].post(page(vacancy), form)

    assert answer.status_code == 200
    assert list(answer.context["adminform"].form.errors) == ["regions"]
    assert list(answer.context["messages"]) == []
    assert list(FilterOption.objects.filter(filter=ghent.filter)) == [ghent]
    assert pair[0].post(page(vacancy), form | {"regions": [str(ghent.pk)]}).status_code == 302
    assert list(VacancyOption.objects.values_list("vacancy", "option")) == [(vacancy.pk, ghent.pk)]


@pytest.mark.slow("repeats a race")
@pytest.mark.each_database
@pytest.mark.parametrize("_", REPEATS)
def test_vacancy_deleted_during_a_save_can_be_restored(pair: list[Client], _: int) -> None:
    vacancy = make_vacancy(title="Nurse")
    form = opened(pair[0], page(vacancy)) | {"title": "Cook"}
    delete = f"{LIST}{vacancy.pk}/delete/"

    answers = at_once(
        lambda: pair[0].post(page(vacancy), form).status_code,
        lambda: pair[1].post(delete, {"post": "yes"}).status_code,
    )

    assert answers == [302, 302]
    assert not Vacancy.objects.exists()
    versions = Version.objects.filter(vacancy=vacancy.pk).order_by("pk")
    assert [version.change for version in versions].count(Change.DELETED) == 1
    last = versions.last()
    assert last
    assert last.change == Change.DELETED
    titles = [version.content["title"] for version in versions if "title" in version.content]
    assert replay(versions)["title"] == titles[-1]
    assert f"/{last.pk}/" in pair[0].get(f"{LIST}deleted/").content.decode()


@pytest.mark.parametrize("_", REPEATS)
def test_vacancy_deleted_by_two_is_recorded_once(pair: list[Client], _: int) -> None:
    vacancy = make_vacancy(title="Nurse")
    delete = f"{LIST}{vacancy.pk}/delete/"

    answers = at_once(*(partial(client.post, delete, {"post": "yes"}) for client in pair))

    # The second one waits for the first one, or finds no vacancy any more.
    assert sorted(answer.status_code for answer in answers) in ([302, 302], [302, 404])
    changes = (
        Version.objects.filter(vacancy=vacancy.pk).order_by("pk").values_list("change", flat=True)
    )
    assert list(changes) == [Change.EXTERNAL, Change.DELETED]


# --- operations --------------------------------------------------------------------------------


@pytest.mark.parametrize("_", REPEATS)
def test_opposite_merges_leave_one_option(_: int) -> None:
    vacancies = [
        make_vacancy(options={"regions": [label]}) for label in ("Gent", "Ghent", "Gent", "Ghent")
    ]
    gent, ghent = make_option("regions", "Gent"), make_option("regions", "Ghent")

    outcomes = at_once(
        lambda: options.merge_options(into=gent, others=[ghent]),
        lambda: options.merge_options(into=ghent, others=[gent]),
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ValidationError", "int"]
    left = FilterOption.objects.get()
    refused = next(outcome for outcome in outcomes if isinstance(outcome, ValidationError))
    other = ghent if left == gent else gent
    assert refused.messages == [
        f"“{other}” was deleted or merged in the meantime. Nothing was changed."
    ]
    links = VacancyOption.objects.order_by("vacancy").values_list("vacancy", "option")
    assert list(links) == [(vacancy.pk, left.pk) for vacancy in vacancies]


@on_postgresql
def test_option_dropped_while_it_is_merged_leaves_the_other() -> None:
    """A recruiter removes "Ghent" from a vacancy with "Gent" and "Ghent".
    Merging the two leaves "Ghent".
    """
    vacancy = make_vacancy(options={"regions": ["Gent", "Ghent"]})
    gent, ghent = make_option("regions", "Gent"), make_option("regions", "Ghent")
    with ExitStack() as stack, transaction.atomic():
        Vacancy.objects.select_for_update().get(pk=vacancy.pk)
        merge = partial(options.merge_options, into=ghent, others=[gent])
        stack.enter_context(waiting(merge))
        options.save_options(vacancy=vacancy, keyword=ghent.filter.keyword, pks=[gent.pk])

    assert list(VacancyOption.objects.values_list("vacancy", "option")) == [(vacancy.pk, ghent.pk)]


@on_postgresql
def test_copy_has_texts_and_options_of_one_save(monkeypatch: Any) -> None:
    vacancy = make_vacancy(title="Nurse", options={"regions": ["Ghent"]})
    antwerp = make_option("regions", "Antwerp")

    def save() -> None:
        with transaction.atomic():
            Vacancy.objects.filter(pk=vacancy.pk).update(title="Cook")
            options.save_options(vacancy=vacancy, keyword=antwerp.filter.keyword, pks=[antwerp.pk])

    with ExitStack() as stack:
        step_in(monkeypatch, Vacancy, "save", lambda: stack.enter_context(waiting(save)))
        copy = publication.duplicate(vacancy=vacancy, at=NOW)

    copied = copy.title, [choice.option.label for choice in copy.choices.select_related("option")]
    assert copied == ("Copy of Nurse", ["Ghent"])
    vacancy.refresh_from_db()
    assert (vacancy.title, [choice.option for choice in vacancy.choices.all()]) == (
        "Cook",
        [antwerp],
    )


# --- imports -----------------------------------------------------------------------------------


@on_postgresql
def test_import_keeps_a_concurrent_publication_change(monkeypatch: Any) -> None:
    vacancy = make_vacancy(pk=1001, title="Old", audience="public")
    unpublish = partial(publication.unpublish, vacancies=Vacancy.objects.all(), at=timezone.now())
    importer = VacancyImporter()
    with ExitStack() as stack:
        land = partial(stack.enter_context, waiting(unpublish))
        step_in(monkeypatch, importer, "_import_item", land)
        importer.import_rows([SourceRow("row 1", items(1)[0])])

    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.status) == ("Job 1", VacancyStatus.UNPUBLISHED)
    assert (importer.report.updated, importer.report.refused) == (1, 0)


def test_import_does_not_use_a_concurrently_merged_option(monkeypatch: Any) -> None:
    monkeypatch.setattr(importer_module, "BATCH", 1)
    ghent = make_option("regions", "Ghent")
    first, second = items(2, regions=["Gent"])

    def rows() -> Iterator[SourceRow]:
        yield SourceRow("row 1", first)
        options.merge_options(into=ghent, others=[FilterOption.objects.get(label="Gent")])
        yield SourceRow("row 2", second)

    importer = VacancyImporter()
    importer.import_rows(rows())

    assert (importer.report.failed, importer.report.created) == ([], 2)
    regions = VacancyOption.objects.filter(option__filter=ghent.filter).order_by("vacancy")
    assert list(regions.values_list("vacancy", "option__label")) == [
        (1001, "Ghent"),
        (1002, "Gent"),
    ]


@on_postgresql
def test_form_import_keeps_a_concurrently_saved_form() -> None:
    anna = User.objects.create_superuser("anna")
    form = form_operations.create(name="Imported", structure=[], origin="import")
    vacancy = make_vacancy(form=form)
    mine = [{"title": "Mine", "description": "", "fields": []}]
    with ExitStack() as stack, transaction.atomic():
        form_operations.save(form, form_operations.FormEdit(mine), author=anna)
        importer = FormImporter()
        land = partial(importer.import_rows, [FormRow("row 1", vacancy.pk, sections(NAME))])
        stack.enter_context(waiting(land))

    form.refresh_from_db()
    vacancy.refresh_from_db()
    assert [section["title"] for section in form.structure] == ["Mine"]
    assert vacancy.form != form
    assert (importer.report.created, importer.report.updated, importer.report.failed) == (1, 0, [])


def test_form_import_keeps_a_concurrently_assigned_form(monkeypatch: Any) -> None:
    chosen = form_operations.create(
        name="Chosen", structure=[{"title": "Mine", "description": "", "fields": []}]
    )
    vacancy = make_vacancy()
    given = Vacancy.objects.filter(pk=vacancy.pk)
    importer = FormImporter()
    step_in(monkeypatch, importer, "_note", lambda: given.update(form=chosen))

    importer.import_rows([FormRow("row 1", vacancy.pk, sections(NAME))])

    vacancy.refresh_from_db()
    assert vacancy.form == chosen
    assert importer.report.failed == [
        "row 1: the vacancy was given another form during the import; import it again."
    ]
    assert list(Form.objects.all()) == [chosen]
