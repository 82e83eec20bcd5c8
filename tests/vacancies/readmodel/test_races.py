"""Concurrent writes, and writes in an unusual order: every response still shows one revision.

Each test defines when the other transaction runs, so that no test depends on timing.
"""

import json
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from itertools import product
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from forms_structure import operations
from forms_structure.api import v1 as forms_v1
from jobsite.serving.revision import read_state
from tests.factories import make_brand, make_option, make_vacancy
from tests.forms_structure.strategies import specimen
from tests.parallel import waiting
from tests.vacancies.api import oracle
from tests.vacancies.api.site import bucket_counts, check, published_counts
from tests.vacancies.readmodel.helpers import (
    LIST,
    elsewhere,
    in_a_thread,
    now_or_later,
    on_postgresql,
    step_in,
    use_small_buckets,
)
from vacancies.api import lists, process_cache
from vacancies.models import (
    Attachment,
    Brand,
    Filter,
    FilterOption,
    Place,
    Recruiter,
    RenderedItem,
    Vacancy,
    VacancyOption,
)
from vacancies.operations.publication import publish
from vacancies.readmodel import maintenance

# --- Items ----------------------------------------------------------------------------------------

CHILD_ROWS: dict[str, Callable[[Vacancy], tuple[str, list[Any]]]] = {
    "option": lambda vacancy: (
        "INSERT INTO vacancies_vacancyoption (vacancy_id, option_id, position) VALUES (%s, %s, 0)",
        [vacancy.pk, make_option("regions", "Ghent").pk],
    ),
    "attachment": lambda vacancy: (
        "INSERT INTO vacancies_attachment (vacancy_id, name, file, url, position) VALUES (%s, "
        "'A', '', 'https://files.example.com/a.pdf', 0)",
        [vacancy.pk],
    ),
    "place": lambda vacancy: (
        "INSERT INTO vacancies_place (vacancy_id, position, kind, street, postal_code, locality, "
        "region, country) VALUES (%s, 0, 'site', '', '', 'Ghent', '', 'BE')",
        [vacancy.pk],
    ),
}
# Changes of other rows that stored items show: of the option, and of the brand.
OPTION_CHANGES = {
    "filter": "UPDATE vacancies_filter SET keyword = 'functiongroup' WHERE keyword = 'regions'",
    "filter of the option": "UPDATE vacancies_filteroption SET filter_id = (SELECT id FROM "
    "vacancies_filter WHERE keyword = 'work_regimes') WHERE label = 'Ghent'",
    "employment type": (
        "UPDATE vacancies_filteroption SET employment_type = 'INTERN' WHERE label = 'Ghent'"
    ),
}


@on_postgresql
@pytest.mark.parametrize("child", CHILD_ROWS)
def test_child_row_is_committed_after_its_vacancy_is_published_and_read(site, child):
    vacancy = make_vacancy(status="draft")
    path, statement = f"{LIST}/{vacancy.pk}", CHILD_ROWS[child](vacancy)
    with elsewhere() as execute:
        execute(*statement)
        later = now_or_later(
            lambda: Vacancy.objects.filter(pk=vacancy.pk).update(status="published")
        )
        site.body(path), site.body(LIST)
    later()
    check(site, path)
    check(site, LIST)


@on_postgresql
def test_child_row_is_committed_while_its_vacancy_is_read(site):
    vacancy = make_vacancy()
    with elsewhere() as execute:
        execute(*CHILD_ROWS["option"](vacancy))
        check(site, LIST)
    check(site, LIST)


@on_postgresql
@pytest.mark.parametrize("change", OPTION_CHANGES)
@pytest.mark.parametrize("is_late", ["option", "publication"])
def test_option_changes_while_a_vacancy_gets_it_or_is_published_with_it(site, change, is_late):
    option = make_option("regions", "Ghent")
    is_draft = is_late == "publication"
    vacancy = make_vacancy(status="draft" if is_draft else "published")

    def give() -> None:
        VacancyOption.objects.create(vacancy=vacancy, option=option, position=0)

    if is_draft:
        give()
        step = partial(Vacancy.objects.filter(pk=vacancy.pk).update, status="published")
    else:
        step = give
    Filter.objects.filter(keyword="functiongroup").delete()
    with elsewhere() as execute:
        execute(OPTION_CHANGES[change])
        later = now_or_later(step)
        site.body(f"{LIST}/{vacancy.pk}"), site.body(LIST)
    later()
    check(site, f"{LIST}/{vacancy.pk}")
    check(site, LIST)


@on_postgresql
@pytest.mark.parametrize("is_late", ["brand", "publication"])
def test_brand_gets_another_address_while_a_vacancy_gets_it_or_is_published_with_it(site, is_late):
    acme, other = make_brand("Acme", vacancy_url="https://acme.test/"), make_brand("Other")
    vacancy = (
        make_vacancy(brand=other)
        if is_late == "brand"
        else make_vacancy(brand=acme, status="draft")
    )
    values = {"brand": acme} if is_late == "brand" else {"status": "published"}
    with elsewhere() as execute:
        execute(
            "UPDATE vacancies_brand SET vacancy_url = 'https://new.test/' WHERE id = %s", [acme.pk]
        )
        later = now_or_later(partial(Vacancy.objects.filter(pk=vacancy.pk).update, **values))
        site.body(f"{LIST}/{vacancy.pk}"), site.body(LIST)
    later()
    check(site, f"{LIST}/{vacancy.pk}")
    check(site, LIST)


@on_postgresql
def test_outdated_item_of_a_slow_reader_is_not_stored(site, monkeypatch):
    vacancy = make_vacancy(title="Nurse", options={"regions": ["Ghent"]})
    render = lists.render

    def slow(*arguments: Any) -> dict[int, bytes]:
        made = render(*arguments)
        with elsewhere() as execute:
            execute("UPDATE vacancies_vacancy SET title = 'Cook' WHERE id = %s", [vacancy.pk])
        return made

    with monkeypatch.context() as patched:
        patched.setattr(lists, "render", slow)
        assert b"Nurse" in site.body(LIST)  # its revision
    assert not RenderedItem.objects.exists()
    check(site, LIST)
    check(site, f"{LIST}/{vacancy.pk}")


def test_option_moves_to_another_filter(site):
    vacancy = make_vacancy(options={"regions": ["Ghent"]})
    paths = (LIST, "/v0.1/vacancies", f"{LIST}/{vacancy.pk}")
    for path in paths:
        site.body(path)
    FilterOption.objects.filter(label="Ghent").update(filter=Filter.objects.get(keyword="types"))
    for path in paths:
        check(site, path)
    # The filter gets another keyword.
    Filter.objects.filter(keyword="jobcustom1_values").delete()
    Filter.objects.filter(keyword="types").update(keyword="jobcustom1_values")
    for path in paths:
        check(site, path)


FACT_CHANGES: dict[str, Callable[[Vacancy], Any]] = {
    "place is changed": lambda vacancy: Place.objects.update(locality="Bruges"),
    "place is added": lambda vacancy: Place.objects.create(
        vacancy=vacancy, kind="applicant", country="FR"
    ),
    "place is deleted": lambda vacancy: Place.objects.all().delete(),
    "employment type": lambda vacancy: FilterOption.objects.update(employment_type="INTERN"),
    "host of the brand": lambda vacancy: Brand.objects.update(host="jobs.acme.test"),
    "title in the address": lambda vacancy: Vacancy.objects.update(title="Night nurse"),
    "address of the brand": lambda vacancy: Brand.objects.update(vacancy_url="https://acme.test/"),
    "pay": lambda vacancy: Vacancy.objects.update(pay_note="Committee 330"),
}


@pytest.mark.slow("commits many changes")
@pytest.mark.each_database
def test_change_of_a_fact_shows_at_once(site, settings):
    settings.CAREER_SITE = True
    vacancy = make_vacancy(
        options={"regions": ["Ghent"]}, places=({"locality": "Ghent", "country": "BE"},)
    )
    paths = (LIST, f"{LIST}/{vacancy.pk}")
    unchanged = []
    for name, change in FACT_CHANGES.items():
        before = [site.body(path) for path in paths]
        change(vacancy)
        for path in paths:
            check(site, path)
        if {*before} & {site.body(path) for path in paths}:
            unchanged.append(name)
    assert unchanged == []


@on_postgresql
def test_child_table_is_truncated(site):
    make_vacancy(options={"regions": ["Ghent"]})
    check(site, LIST)
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE vacancies_vacancyoption")
    check(site, LIST)


def test_republished_vacancy_has_new_etags(site):
    vacancy = make_vacancy()
    Attachment.objects.create(vacancy=vacancy, name="A", url="https://files.example.com/a.pdf")
    tags: dict[str, bytes] = {}
    for number in range(18):
        if number % 8 == 0:
            Vacancy.objects.update(status="unpublished")
            Vacancy.objects.update(status="published")
        Attachment.objects.update(name=f"File {number}")
        for path in (LIST, f"{LIST}/{vacancy.pk}"):
            _, headers, answer = site.ask(path)
            assert tags.setdefault(headers["ETag"], answer) == answer, number


# --- Forms ----------------------------------------------------------------------------------------


@on_postgresql
def test_vacancy_gets_another_form_while_its_form_is_read(site, monkeypatch):
    moved, stays = make_vacancy(), make_vacancy()
    form = operations.create(name="Own", language="nl", structure=specimen())
    before = site.body(f"{LIST}/{stays.pk}/form")
    make_vacancy()  # another revision
    serve = forms_v1.serve

    def move(*served: Any) -> Any:
        monkeypatch.setattr(forms_v1, "serve", serve)
        with elsewhere() as execute:
            execute("UPDATE vacancies_vacancy SET form_id = %s WHERE id = %s", [form.pk, moved.pk])
        return serve(*served)

    monkeypatch.setattr(forms_v1, "serve", move)
    site.process.last_shared.values.clear()
    assert site.body(f"{LIST}/{moved.pk}/form") == before
    assert site.body(f"{LIST}/{moved.pk}/form") != before
    assert site.body(f"{LIST}/{stays.pk}/form") == before


# --- Lists ----------------------------------------------------------------------------------------

# The statements between which another process acts: those of the totals, and the page.
STATEMENTS = ("sum(external)", "UNION ALL", "max(publish_until)", "LIMIT %s OFFSET %s")
EVENTS: dict[str, Callable[[], Any]] = {
    "one is published": lambda: make_vacancy(title="Sailor", is_hot=True),
    "one is deleted": lambda: Vacancy.objects.order_by("?").first().delete(),
    "all are moved": lambda: Vacancy.objects.update(
        publish_from=timezone.now() - timedelta(days=9)
    ),
    "one expires": lambda: Vacancy.objects.filter(is_hot=True).update(publish_until=timezone.now()),
    "expired ones are marked": lambda: Vacancy.objects.update(
        publish_from=timezone.now() - timedelta(days=9),
        publish_until=timezone.now() - timedelta(days=8),
    ),
    "the counts are balanced": maintenance.balance,
    "the read model is rebuilt": maintenance.rebuild,
}


@on_postgresql
@pytest.mark.slow("an event between any two statements")
@pytest.mark.parametrize("event", EVENTS)
def test_event_between_two_statements_of_a_page(site, monkeypatch, time_machine, event):
    time_machine.move_to(timezone.now(), tick=False)
    use_small_buckets(monkeypatch, 4)
    for sql, path in product(STATEMENTS, (f"{LIST}?page[size]=3&page[number]=2", f"{LIST}/hot")):
        Vacancy.objects.all().delete()
        for hour in range(9):
            make_vacancy(publish_from=timezone.now() - timedelta(hours=hour % 5), is_hot=hour == 1)
        before = oracle.expected(path, timezone.now())[1]
        with monkeypatch.context() as patched:
            left = step_in(patched, sql, partial(in_a_thread, EVENTS[event]))
            answered = site.body(path)
            assert not left, (sql, path)
        assert answered in (before, oracle.expected(path, timezone.now())[1]), (sql, path)
        check(site, path)
        assert bucket_counts() == published_counts()


def test_publishing_raises_the_revision_once(site):
    time = timezone.now().replace(microsecond=0)
    draft, scheduled = (
        make_vacancy(status="draft"),
        make_vacancy(publish_from=time + timedelta(hours=1)),
    )
    ends = make_vacancy(status="draft", publish_until=time + timedelta(hours=2))
    before = read_state()
    assert set(publish(vacancies=Vacancy.objects.all(), at=time).done) == {
        draft.pk,
        scheduled.pk,
        ends.pk,
    }
    if connection.vendor == "postgresql":  # SQLite raises it for each row
        assert read_state().number == before.number + 1
    check(site, LIST)
    assert bucket_counts() == published_counts() == [3, 0, 0, 0]


@on_postgresql
def test_filtered_list_during_continuous_writes(site, monkeypatch):
    """The ids of the list, its rows and its items are of one snapshot."""
    vacancies = [make_vacancy(title=f"Nurse {number}") for number in range(3)]
    fetch, writes = lists.fetch, []

    def write_and_fetch(statement: str, *parameters: Any) -> list[tuple]:
        if "= ANY(" in statement:
            with elsewhere() as execute:
                execute(
                    "UPDATE vacancies_vacancy SET title = %s WHERE id = %s",
                    [f"Nurse {len(writes)} again", vacancies[len(writes) % 3].pk],
                )
            writes.append(statement)
        return fetch(statement, *parameters)

    monkeypatch.setattr(lists, "fetch", write_and_fetch)
    found = json.loads(site.body(f"{LIST}?filter[search]=nurse&sort=title"))["data"]
    assert [item["title"] for item in found] == ["Nurse 0", "Nurse 1", "Nurse 2"]
    assert len(writes) == 1
    found = json.loads(site.body(f"{LIST}?filter[search]=nurse&sort=title"))["data"]
    # The second write came before the first statement, so a snapshot was needed; the third one
    # during it.
    assert [item["title"] for item in found] == ["Nurse 0 again", "Nurse 1 again", "Nurse 2"]
    assert len(writes) == 3


@on_postgresql
def test_brand_is_renamed_between_the_page_and_its_placeholders(site, monkeypatch):
    vacancy = make_vacancy(title="Nurse", brand=make_brand("Acme"))
    other = make_vacancy(title="Cook", brand=vacancy.brand)
    site.body(LIST)
    Recruiter.objects.update(function="Lead")  # the values of placeholders are read again
    resolve = lists.resolve

    def rename_and_resolve(names: Any) -> Any:
        with elsewhere() as execute:
            execute("UPDATE vacancies_brand SET name = 'Ajax'")
            execute("UPDATE vacancies_vacancy SET title = 'Baker' WHERE id = %s", [other.pk])
        return resolve(names)

    with monkeypatch.context() as patched:
        patched.setattr(lists, "resolve", rename_and_resolve)
        shown = {
            (item["title"], item["brand"]["name"]) for item in json.loads(site.body(LIST))["data"]
        }
    assert shown == {("Nurse", "Acme"), ("Cook", "Acme")}
    check(site, LIST)


def test_change_after_a_rolled_back_savepoint_raises_the_revision(site):
    vacancy = make_vacancy(title="Nurse")
    check(site, LIST)
    before = read_state().number
    with transaction.atomic():
        with transaction.atomic():
            Vacancy.objects.update(title="Never", is_hot=True)
            transaction.set_rollback(True)
        Vacancy.objects.filter(pk=vacancy.pk).update(title="Cook")
        with transaction.atomic():
            VacancyOption.objects.create(vacancy=vacancy, option=make_option("regions", "Ghent"))
            transaction.set_rollback(True)
    assert read_state().number > before
    for path in (LIST, f"{LIST}/hot", f"{LIST}/{vacancy.pk}"):
        check(site, path)
    assert bucket_counts() == published_counts()


STEPS = {
    "unpublished": "UPDATE vacancies_vacancy SET status = 'unpublished'",
    "saved": "UPDATE vacancies_vacancy SET title = 'New'",
    "locked": "SELECT 1 FROM vacancies_vacancy FOR UPDATE",
}


@on_postgresql
@pytest.mark.parametrize("step", STEPS)
def test_vacancy_is_changed_or_locked_while_the_read_model_is_rebuilt(site, step):
    make_vacancy()
    check(site, LIST)
    with ExitStack() as stack, elsewhere() as execute:
        execute(STEPS[step])
        stack.enter_context(waiting(maintenance.rebuild))
    check(site, LIST)
    assert bucket_counts() == published_counts() == [step != "unpublished", 0, 0, 0]


@on_postgresql
def test_rebuild_while_a_child_row_is_written(site):
    vacancy = make_vacancy()
    statement = CHILD_ROWS["option"](vacancy)
    site.body(LIST)
    written, may_commit = Event(), Event()

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(*statement)
            written.set()
            may_commit.wait(timeout=10)

    with ExitStack() as stack:
        with elsewhere() as execute:
            execute("SELECT 1 FROM vacancies_listedvacancy FOR UPDATE")  # blocks the rebuild
            rebuilding = stack.enter_context(waiting(maintenance.rebuild))
            writing = stack.enter_context(waiting(write, count=2))
        rebuilding.join(timeout=10)
        written.wait(timeout=10)
        site.body(LIST)
        may_commit.set()
        writing.join(timeout=10)
    check(site, LIST)


@on_postgresql
def test_vacancy_is_unpublished_between_reading_ids_and_rows(site, monkeypatch, caplog):
    make_vacancy(title="Cook")
    nurse = make_vacancy(title="Nurse")
    ids = process_cache.ProcessCache.ids

    def ids_and_step_in(*arguments: Any) -> Any:
        found = ids(*arguments)
        with elsewhere() as execute:
            execute("UPDATE vacancies_vacancy SET status = 'unpublished' WHERE id = %s", [nurse.pk])
        return found

    monkeypatch.setattr(process_cache.ProcessCache, "ids", ids_and_step_in)
    site.body(f"{LIST}?sort=title")
    site.same(f"{LIST}?sort=title")
    assert not caplog.records  # not an error
