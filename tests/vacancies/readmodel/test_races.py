"""Concurrent writes, and writes in an unusual order: every response still equals the response of the views.

Each test defines when the other transaction runs, so that no test depends on timing.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from forms_structure import operations
from forms_structure.api import v1 as forms_v1
from jobsite.serving import revision
from jobsite.serving.revision import read_state
from tests.factories import make_filter, make_option, make_vacancy
from tests.parallel import waiting
from tests.vacancies.api.test_fast_path import Site, daily_counts, published_counts
from vacancies.api import fast_path, process_cache, rendered_items
from vacancies.choices import Keyword
from vacancies.models import (
    Attachment,
    Filter,
    FilterOption,
    ListedVacancy,
    PublicationState,
    Vacancy,
    VacancyOption,
)
from vacancies.operations import publish
from vacancies.readmodel import changes, totals, triggers

LIST = "/v1/vacancies"
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time"
)
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="tests SQLite's triggers")


@pytest.fixture
def site(wsgi, transactional_db, settings):
    from jobsite.wsgi import _bare

    settings.BODY_CACHE_MB = 1
    for keyword in Keyword:
        make_filter(keyword)
    return Site(_bare)


@contextmanager
def elsewhere() -> Iterator[Callable[..., None]]:
    """A transaction on its own connection. Yields a function that executes SQL; commits at the end."""
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            yield cursor.execute
        other.commit()
    finally:
        other.close()


def now_or_later(act: Callable[[], Any]) -> Callable[[], Any]:
    """Try `act`. Return what to call later: `act` again if it was blocked by a lock."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = 100")
            act()
    except DatabaseError:
        return act
    return lambda: None


def between(monkeypatch: Any, sql: str, step_in: Callable[[], Any]) -> None:
    """Call `step_in` once, right after the fast path has executed a statement that contains `sql`."""
    fetch, left = revision.fetch, [step_in]

    def fetch_and_step_in(statement: str, *parameters: Any) -> list[tuple]:
        rows = fetch(statement, *parameters)
        if sql in statement and left:
            left.pop()()
        return rows

    for module in (totals, fast_path):
        monkeypatch.setattr(module, "fetch", fetch_and_step_in)


def body(site: Site, path: str) -> bytes:
    return site.ask(site.cached, path)[2]


def check(site: Site, path: str) -> None:
    """Check that a process with cached responses and a new one return the response of the views."""
    expected = site.ask(site.django, path)
    for application in (site.cached, Site(site.django).cached):
        got = site.ask(application, path)
        assert (got[0], got[2]) == (expected[0], expected[2]), path


# --- Items ----------------------------------------------------------------------------------------------

CHILD_ROWS: dict[str, Callable[[Vacancy], tuple[str, list[Any]]]] = {
    "option": lambda vacancy: (
        "INSERT INTO vacancies_vacancyoption (vacancy_id, option_id, position) VALUES (%s, %s, 0)",
        [vacancy.pk, make_option("regions", "Ghent").pk],
    ),
    "attachment": lambda vacancy: (
        "INSERT INTO vacancies_attachment (vacancy_id, name, file, url, position) "
        "VALUES (%s, 'A', '', 'https://files.example.com/a.pdf', 0)",
        [vacancy.pk],
    ),
}


@on_postgresql
@pytest.mark.parametrize("child", CHILD_ROWS)
def test_child_row_is_committed_after_its_vacancy_is_published_and_read(site, child):
    vacancy = make_vacancy(status="draft")
    path, statement = f"{LIST}/{vacancy.pk}", CHILD_ROWS[child](vacancy)
    with elsewhere() as execute:
        execute(*statement)
        later = now_or_later(lambda: Vacancy.objects.filter(pk=vacancy.pk).update(status="published"))
        body(site, path), body(site, LIST)
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
@pytest.mark.parametrize("table", ["vacancies_filteroption", "vacancies_filter"])
@pytest.mark.parametrize("is_late", ["option", "publication"])
def test_option_moves_while_a_vacancy_gets_it_or_is_published_with_it(site, table, is_late):
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
    unused = make_filter("work_regimes")
    with elsewhere() as execute:
        if table == "vacancies_filter":
            execute("UPDATE vacancies_filter SET keyword = 'functiongroup' WHERE id = %s", [option.filter_id])
        else:
            execute("UPDATE vacancies_filteroption SET filter_id = %s WHERE id = %s", [unused.pk, option.pk])
        later = now_or_later(step)
        body(site, f"{LIST}/{vacancy.pk}"), body(site, LIST)
    later()
    check(site, f"{LIST}/{vacancy.pk}")
    check(site, LIST)


def test_outdated_item_of_a_slow_reader_is_not_stored(site, monkeypatch):
    vacancy = make_vacancy(title="Nurse", options={"regions": ["Ghent"]})
    render = rendered_items.render

    def slow(version: str, pks: Any) -> dict[int, bytes]:
        made = render(version, pks)
        monkeypatch.setattr(rendered_items, "render", render)
        Vacancy.objects.filter(pk=vacancy.pk).update(title="Cook")
        return made

    monkeypatch.setattr(rendered_items, "render", slow)
    assert b"Cook" in body(site, LIST)
    check(site, LIST)
    check(site, f"{LIST}/{vacancy.pk}")


def test_option_moves_to_another_filter(site):
    vacancy = make_vacancy(options={"regions": ["Ghent"]})
    paths = (LIST, "/v0.1/vacancies", f"{LIST}/{vacancy.pk}")
    for path in paths:
        body(site, path)
    FilterOption.objects.filter(label="Ghent").update(filter=Filter.objects.get(keyword="types"))
    for path in paths:
        check(site, path)


def test_filter_gets_another_keyword(site):
    vacancy = make_vacancy(options={"regions": ["Ghent"]})
    check(site, LIST)
    Filter.objects.filter(keyword="jobcustom1_values").delete()
    Filter.objects.filter(keyword="regions").update(keyword="jobcustom1_values")
    check(site, LIST)
    check(site, f"{LIST}/{vacancy.pk}")


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
    for number in range(40):
        if number % 8 == 0:
            Vacancy.objects.update(status="unpublished")
            Vacancy.objects.update(status="published")
        Attachment.objects.update(name=f"File {number}")
        for path in (LIST, f"{LIST}/{vacancy.pk}"):
            _, headers, answer = site.ask(site.cached, path)
            assert tags.setdefault(headers["ETag"], answer) == answer, number


# --- Forms ----------------------------------------------------------------------------------------------


def test_vacancy_gets_another_form_while_its_form_is_read(site, monkeypatch):
    moved, stays = make_vacancy(), make_vacancy()
    form = operations.create(name="Own", language="nl", structure=[])
    serve = forms_v1.serve

    def move(served: Any) -> Any:
        monkeypatch.setattr(forms_v1, "serve", serve)
        Vacancy.objects.filter(pk=moved.pk).update(form=form)
        return serve(served)

    monkeypatch.setattr(forms_v1, "serve", move)
    body(site, f"{LIST}/{moved.pk}/form")
    site.same(f"{LIST}/{moved.pk}/form")
    site.same(f"{LIST}/{stays.pk}/form")


# --- Lists and the clock --------------------------------------------------------------------------------

EMPTY = (
    f"{LIST}/hot?page[size]=1",
    f"{LIST}?page[size]=1&page[number]=2",
    f"{LIST}?filter[search]=sailor",
)


@pytest.mark.parametrize("path", EMPTY)
def test_another_process_applies_due_changes_while_this_one_reads_totals(
    site, monkeypatch, time_machine, path
):
    start = timezone.now()
    time_machine.move_to(start, tick=False)
    make_vacancy()
    assert changes.apply_due_changes(at=start)
    due = start + timedelta(seconds=1)
    make_vacancy(title="Sailor", is_hot=True, publish_from=due)
    between(monkeypatch, "sum(", lambda: changes.apply_due_changes(at=due))
    body(site, path)
    time_machine.move_to(due + timedelta(seconds=1), tick=False)
    check(site, path)


@pytest.mark.parametrize("size", [1, 2])
def test_process_with_a_slow_clock_applies_due_changes_while_this_one_reads_totals(site, monkeypatch, size):
    for _ in range(2):
        make_vacancy()
    time = timezone.now()
    assert changes.apply_due_changes(at=time)
    make_vacancy()  # live for an hour: due at once
    between(monkeypatch, "sum(", lambda: changes.apply_due_changes(at=time - timedelta(milliseconds=1)))
    body(site, f"{LIST}?page[size]={size}")
    check(site, f"{LIST}?page[size]={size}")


def test_published_vacancies_are_live_with_the_same_commit(site, monkeypatch):
    time = timezone.now().replace(microsecond=0)
    draft, scheduled = make_vacancy(status="draft"), make_vacancy(publish_from=time + timedelta(hours=1))
    ends = make_vacancy(status="draft", publish_until=time + timedelta(hours=2))
    before = read_state()
    done = publish(vacancies=Vacancy.objects.all(), at=time).done
    assert set(done) == {draft.pk, scheduled.pk, ends.pk}
    assert set(ListedVacancy.objects.values_list("state", flat=True)) == {PublicationState.LIVE}
    after = read_state()
    assert after.watermark == changes.microseconds(time)
    if connection.vendor == "postgresql":  # SQLite raises it for each row
        assert after.number == before.number + 1
    monkeypatch.setattr(
        "vacancies.api.process_cache.apply_due_changes", lambda **_: pytest.fail("left to a reader")
    )
    check(site, LIST)
    assert daily_counts() == published_counts()


@on_postgresql
def test_filtered_list_during_continuous_writes(site, monkeypatch):
    vacancies = [make_vacancy(title=f"Nurse {number}") for number in range(3)]
    fetch, writes = revision.fetch, []

    def write_and_fetch(statement: str, *parameters: Any) -> list[tuple]:
        if "= ANY(" in statement:
            with elsewhere() as execute:
                execute("UPDATE vacancies_vacancy SET title = %s WHERE id = %s",
                        [f"Nurse {len(writes)} again", vacancies[len(writes) % 3].pk])  # fmt: skip
            writes.append(statement)
        return fetch(statement, *parameters)

    monkeypatch.setattr(fast_path, "fetch", write_and_fetch)
    before = site.fast_responses
    found = json.loads(body(site, f"{LIST}?filter[search]=nurse&sort=title"))["data"]
    assert site.fast_responses == before + 1  # not by the views, which read several snapshots
    assert [item["title"] for item in found] == ["Nurse 0", "Nurse 1", "Nurse 2"]
    assert len(writes) == 1  # after the snapshot
    found = json.loads(body(site, f"{LIST}?filter[search]=nurse&sort=title"))["data"]
    assert [item["title"] for item in found] == ["Nurse 0 again", "Nurse 1", "Nurse 2"]


@on_postgresql
def test_due_changes_do_not_wait_for_a_long_transaction(site):
    time = timezone.now()
    vacancy = make_vacancy(publish_from=time - timedelta(seconds=1), audience="both")
    with elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET title = 'New', is_hot = true WHERE id = %s", [vacancy.pk])
        execute(
            "INSERT INTO vacancies_vacancy SELECT (jsonb_populate_record(v, %s)).* "
            "FROM vacancies_vacancy v WHERE id = %s",
            ['{"id": 900000}', vacancy.pk],
        )
        assert not changes.apply_due_changes(at=timezone.now())  # the lock is not free
        other = make_vacancy()
        check(site, LIST)
        assert Vacancy.objects.filter(pk=other.pk).exists()
    for path in (LIST, f"{LIST}/hot", "/v0.1/vacancies/internal"):
        check(site, path)
    assert daily_counts() == published_counts()


@on_postgresql
def test_counts_are_compacted_during_writes(site):
    vacancies = [make_vacancy() for _ in range(3)]
    check(site, LIST)
    with elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET status = 'unpublished' WHERE id = %s", [vacancies[0].pk])
        totals.compact()
        with elsewhere() as another:
            another("UPDATE vacancies_vacancy SET is_hot = true WHERE id = %s", [vacancies[1].pk])
            totals.compact()
        totals.compact()
        check(site, LIST)
    check(site, LIST)
    check(site, f"{LIST}/hot")
    assert daily_counts() == published_counts()


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
    assert daily_counts() == published_counts()


@on_postgresql
def test_vacancy_is_unpublished_while_a_migration_fills_the_read_model(site, monkeypatch):
    vacancy = make_vacancy()
    ListedVacancy.objects.all().delete()
    monkeypatch.setattr(triggers, "POSTGRESQL", ())  # the triggers are installed already

    with elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET status = 'unpublished' WHERE id = %s", [vacancy.pk])
        with connection.cursor() as cursor:
            cursor.execute("COMMENT ON TABLE vacancies_listedvacancy IS 'older fingerprint'")
            cursor.execute("SET lock_timeout = 100")
        try:
            triggers.install_triggers(apps.get_app_config("vacancies"), "default")
            later: Callable[[], Any] = lambda: None  # noqa: E731
        except DatabaseError:
            later = lambda: triggers.install_triggers(apps.get_app_config("vacancies"), "default")  # noqa: E731
    later()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 0")
    check(site, LIST)
    assert not ListedVacancy.objects.exists()


@on_postgresql
def test_vacancy_is_saved_while_a_migration_fills_the_read_model(site, monkeypatch):
    vacancy = make_vacancy()
    ListedVacancy.objects.all().delete()
    monkeypatch.setattr(triggers, "POSTGRESQL", ())
    with connection.cursor() as cursor:
        cursor.execute("COMMENT ON TABLE vacancies_listedvacancy IS 'older fingerprint'")
    with ExitStack() as stack, elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET title = 'New' WHERE id = %s", [vacancy.pk])
        config = apps.get_app_config("vacancies")
        stack.enter_context(waiting(lambda: triggers.install_triggers(config, "default")))
    check(site, LIST)


@on_postgresql
def test_rebuild_while_counts_are_compacted(site, monkeypatch):
    for _ in range(3):
        make_vacancy()
    check(site, LIST)
    with ExitStack() as stack, elsewhere() as execute:
        # the statement of `totals.compact`
        execute(
            "WITH gone AS (DELETE FROM vacancies_dailycount WHERE id IN "
            "(SELECT id FROM vacancies_dailycount FOR UPDATE SKIP LOCKED) RETURNING *) "
            "INSERT INTO vacancies_dailycount (day, external, hot, internal, hot_internal) "
            "SELECT day, sum(external), sum(hot), sum(internal), sum(hot_internal) FROM gone GROUP BY day"
        )
        stack.enter_context(waiting(changes.rebuild))
    for size in (1, 3, 4):
        check(site, f"{LIST}?page[size]={size}")
    assert daily_counts() == published_counts()


@on_postgresql
def test_rebuild_while_a_child_row_is_written(site):
    vacancy = make_vacancy()
    statement = CHILD_ROWS["option"](vacancy)
    body(site, LIST)
    written, may_commit = Event(), Event()

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(*statement)
            written.set()
            may_commit.wait(timeout=10)

    with ExitStack() as stack:
        with elsewhere() as execute:
            execute("SELECT 1 FROM vacancies_listedvacancy FOR UPDATE")  # blocks the rebuild
            rebuilding = stack.enter_context(waiting(changes.rebuild))
            writing = stack.enter_context(waiting(write, count=2))
        rebuilding.join(timeout=10)
        written.wait(timeout=10)
        body(site, LIST)
        may_commit.set()
        writing.join(timeout=10)
    check(site, LIST)


@on_sqlite
def test_last_microsecond_of_a_day_counts_for_that_day(site):
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    for microseconds in (-86_400_000_000, -60_000_000, -1_000_000, -600, -1, 0, 1_000_000):
        make_vacancy(publish_from=midnight + timedelta(microseconds=microseconds))
    for number in range(1, 8):
        check(site, f"{LIST}?page[size]=1&page[number]={number}")


def test_vacancy_is_unpublished_between_reading_ids_and_rows(site, monkeypatch, caplog):
    make_vacancy(title="Cook")
    make_vacancy(title="Nurse")
    id_list = process_cache.ProcessCache.id_list

    def id_list_and_step_in(*arguments: Any) -> Any:
        found = id_list(*arguments)
        Vacancy.objects.filter(title="Nurse").update(status="unpublished")
        return found

    monkeypatch.setattr(process_cache.ProcessCache, "id_list", id_list_and_step_in)
    body(site, f"{LIST}?sort=title")
    assert not caplog.records  # not an error


# --- Queries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["filter[search]=école", "filter[search]=Élan&sort=title"])
def test_query_in_plain_utf8(site, query):
    """As curl sends it, not percent-encoded."""
    make_vacancy(title="Élan école")
    path = f"{LIST}?{query}".encode().decode("latin-1")
    check(site, LIST)
    check(site, path)


@pytest.mark.parametrize(
    "query",
    ["fields=", "sort=", "filter[search]=", "filter[regions]=", "page[size]="],
)
def test_empty_value_is_rejected(site, query):
    make_vacancy()
    body(site, LIST)
    status, _, answer = site.ask(site.cached, f"{LIST}?{query}")
    expected = site.ask(site.django, f"{LIST}?{query}")
    assert (status, answer) == (expected[0], expected[2])
