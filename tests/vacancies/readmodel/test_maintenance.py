"""Maintenance of the read model changes no response:
marks, the division of counts, and filling it again.
"""

from contextlib import ExitStack
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from jobsite.serving.revision import read_state
from tests import servers
from tests.factories import make_vacancy
from tests.parallel import waiting
from tests.vacancies.api.site import LISTS, Site, bucket_counts, check, published_counts
from tests.vacancies.readmodel.helpers import (
    LIST,
    check_pages,
    elsewhere,
    on_postgresql,
    step_in,
    use_small_buckets,
    write_rows,
)
from vacancies.models import BucketCount, ListedVacancy, RenderedItem, Vacancy
from vacancies.readmodel import maintenance
from vacancies.readmodel.maintenance import balance, mark_expired

pytestmark = on_postgresql
HOUR = timedelta(hours=1)
BUCKET = ("start_at", "start_id", "external", "hot", "internal", "hot_internal")


def bodies(site: Site) -> dict[str, bytes]:
    site.cached.entries.clear()
    return {
        path: site.body(path) for path in (*LISTS, f"{LIST}?sort=title", f"{LIST}?page[size]=2")
    }


def buckets() -> list[tuple[Any, ...]]:
    """Return the rows of the counts, oldest buckets first."""
    return list(BucketCount.objects.order_by("start_at", "start_id", "pk").values_list(*BUCKET))


# --- Marks ----------------------------------------------------------------------------------------


@pytest.fixture
def due(time_machine):
    """Five vacancies of which none is marked as it should be, and three others.
    Returns the five.
    """
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    ends = (-HOUR, -2 * HOUR, -timedelta(minutes=6), HOUR, 2 * HOUR)
    five = [make_vacancy(publish_from=now - 9 * HOUR, publish_until=now + end).pk for end in ends]
    for end in (now - 3 * HOUR, now - timedelta(minutes=1), None):
        make_vacancy(publish_from=now - 9 * HOUR, publish_until=end, audience="both")
    write_rows(Vacancy.objects.filter(pk__in=five[:3]), is_expired=False)
    write_rows(Vacancy.objects.filter(pk__in=five[3:]), is_expired=True)
    return five


def marked() -> set[int]:
    return set(ListedVacancy.objects.filter(is_expired=True).values_list("pk", flat=True))


@pytest.mark.parametrize("batch", [2, 2_000])
def test_rows_are_marked_and_unmarked(site, due, monkeypatch, batch):
    monkeypatch.setattr(maintenance, "BATCH_SIZE", batch)
    before, others = bodies(site), marked() - set(due)
    assert len(others) == 1

    assert mark_expired() == 5

    assert marked() == others | set(due[:3])
    assert bodies(site) == before
    assert bucket_counts() == published_counts()
    state = read_state()
    assert mark_expired() == 0
    assert read_state() == state


def test_command_marks_and_balances(site, due, capsys, monkeypatch):
    use_small_buckets(monkeypatch, 2)
    assert balance()
    before = bodies(site)

    call_command("maintain_lists")

    assert "Marked 5 vacancies." in capsys.readouterr().out
    assert len(buckets()) == len({row[:2] for row in buckets()})
    assert bodies(site) == before
    call_command("maintain_lists")
    assert "Marked 0 vacancies." in capsys.readouterr().out


def test_marking_skips_locked_vacancies(site, due):
    with elsewhere() as execute:
        execute("SELECT 1 FROM vacancies_vacancy WHERE id = %s FOR UPDATE", [due[0]])
        assert mark_expired() == 4
        assert due[0] not in marked()
        check(site, LIST)
    assert mark_expired() == 1
    check(site, LIST)
    assert bucket_counts() == published_counts()


def test_vacancy_is_prolonged_while_it_is_marked(site, due):
    end = timezone.now() + HOUR
    with elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET publish_until = %s WHERE id = %s", [end, due[0]])
        assert mark_expired() == 4
    assert mark_expired() == 0
    assert due[0] not in marked()
    check(site, LIST)
    assert bucket_counts() == published_counts()


def test_vacancy_is_due_since_the_start_of_a_transaction(site):
    with transaction.atomic():
        read_state()  # begins the transaction
        end = timezone.now() - timedelta(minutes=5)
        vacancy = make_vacancy(publish_from=end - HOUR, publish_until=end)
        write_rows(Vacancy.objects.filter(pk=vacancy.pk), is_expired=False)
        servers.until(mark_expired)
        assert mark_expired() == 0
    check(site, LIST)


# --- Counts ---------------------------------------------------------------------------------------


@pytest.fixture
def many(monkeypatch):
    """23 vacancies, more than ten of them at one time, and buckets of five that are divided beyond
    ten.
    """
    use_small_buckets(monkeypatch, 10)
    now = timezone.now()
    for number in range(23):
        audience = ("public", "both", "internal")[number % 3]
        start = now - timedelta(days=max(2, number - 9))
        make_vacancy(publish_from=start, is_hot=number % 2 == 0, audience=audience)


def test_large_buckets_are_divided(site, many):
    before = bucket_counts()
    assert len({row[:2] for row in buckets()}) == 1

    assert balance()

    rows = buckets()
    assert len({row[:2] for row in rows}) == len(rows) > 3
    assert max(max(row[2:]) for row in rows) <= 5
    for one, other in pairwise(rows):  # no neighbours that one bucket could hold
        assert max(sum(pair) for pair in zip(one[2:], other[2:], strict=True)) > 5
    assert [sum(column) for column in zip(*(row[2:] for row in rows), strict=True)] == before
    assert bucket_counts() == published_counts() == before
    assert balance()
    assert buckets() == rows
    check_pages(site, 7)


def test_small_neighbours_are_merged(site, many):
    balance()
    starts = {row[:2] for row in buckets()}
    Vacancy.objects.exclude(pk__in=Vacancy.objects.values("pk")[:3]).delete()
    Vacancy.objects.update(publish_from=timezone.now())
    assert {row[:2] for row in buckets()} == starts
    assert balance()
    [row] = buckets()
    assert list(row[2:]) == published_counts()
    check_pages(site, 2)


def test_reader_divides_large_buckets_and_sums_their_rows(site, many):
    site.same(LIST)
    rows = buckets()
    assert len({row[:2] for row in rows}) == len(rows) > 3
    for _ in range(6):
        Vacancy.objects.filter(pk=Vacancy.objects.last().pk).update(is_hot=True)  # two rows each
    assert len(buckets()) > len(rows) + 10
    site.same(LIST)
    assert len(buckets()) == len(rows)
    assert bucket_counts() == published_counts()


@pytest.mark.slow("many vacancies")
@pytest.mark.each_database
def test_counts_are_not_divided_during_a_transaction_that_changes_them(site, many):
    pk = Vacancy.objects.values_list("pk", flat=True).first()
    with elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET audience = 'both', is_hot = true WHERE id = %s", [pk])
        before = buckets()
        assert not balance()
        assert buckets() == before
        check(site, LIST)
    assert balance()
    assert bucket_counts() == published_counts()
    check_pages(site, 7)


@pytest.mark.parametrize(
    "statement", ["sum(external)", "row_number()", "DELETE FROM vacancies_bucketcount"]
)
def test_writer_waits_while_counts_are_divided(site, many, monkeypatch, statement):
    """It counts in the new buckets."""
    middle = Vacancy.objects.order_by("publish_from")[4].publish_from

    def write() -> None:
        make_vacancy(publish_from=middle, audience="both", is_hot=True)
        Vacancy.objects.filter(is_hot=True).first().delete()

    with ExitStack() as stack, monkeypatch.context() as patched:
        left = step_in(patched, statement, lambda: stack.enter_context(waiting(write)))
        assert balance()
        assert not left
        divided = {row[:2] for row in buckets()}
    assert {row[:2] for row in buckets()} == divided
    assert len(divided) > 3
    assert bucket_counts() == published_counts()
    check_pages(site, 7)


def test_writer_that_was_rolled_back_does_not_count(site, many):
    before = buckets()
    with elsewhere() as execute:
        execute("DELETE FROM vacancies_vacancy WHERE is_hot")
        assert not balance()
        execute("ROLLBACK")
    assert buckets() == before
    assert balance()
    check_pages(site, 7)


# --- Filling it again -----------------------------------------------------------------------------


def test_flush_leaves_correct_counts(site, many):
    check(site, LIST)
    balance()
    call_command("flush", interactive=False, verbosity=0)
    assert bucket_counts() == published_counts() == [0, 0, 0, 0]
    site = Site()
    check(site, LIST)
    vacancy = make_vacancy()
    make_vacancy(publish_from=timezone.now() + HOUR)
    check(site, LIST)
    assert bucket_counts() == published_counts() == [1, 0, 0, 0]
    vacancy.delete()
    check(site, LIST)
    assert bucket_counts() == published_counts() == [0, 0, 0, 0]


DERIVED = ("vacancies.ListedVacancy", "vacancies.BucketCount", "vacancies.RenderedItem")


@pytest.mark.slow("many vacancies")
@pytest.mark.each_database
@pytest.mark.parametrize("is_flushed", [True, False])
def test_loaddata_leaves_correct_counts(site, many, tmp_path, is_flushed):
    """Of a file without the read model. With it, the command render_items --rebuild is needed."""
    before, file = bodies(site), tmp_path / "all.json"
    call_command(
        "dumpdata", "vacancies", "forms_structure", exclude=DERIVED, output=file, verbosity=0
    )
    if is_flushed:
        call_command("flush", interactive=False, verbosity=0)
    call_command("loaddata", file, verbosity=0)
    site = Site()
    assert bodies(site) == before
    check(site, LIST)
    assert bucket_counts() == published_counts()


def test_truncated_vacancies_are_not_counted(site, many):
    balance()
    tables = ", ".join(
        model._meta.db_table
        for model in apps.get_app_config("vacancies").get_models()
        if model not in (ListedVacancy, BucketCount, RenderedItem)
    )
    with elsewhere() as execute:
        execute(f"TRUNCATE {tables} CASCADE")
    check(site, LIST)
    assert bucket_counts() == published_counts() == [0, 0, 0, 0]
    make_vacancy()
    check(site, LIST)
    assert bucket_counts() == published_counts() == [1, 0, 0, 0]


def test_rebuild_restores_any_content(site, many):
    before = bodies(site)
    Vacancy.objects.filter(pk=Vacancy.objects.first().pk).update(status="unpublished")
    Vacancy.objects.filter(status="unpublished").update(status="published")
    BucketCount.objects.update(external=77)
    ListedVacancy.objects.filter(pk__gt=ListedVacancy.objects.first().pk + 5).delete()
    ListedVacancy.objects.update(is_expired=True)
    RenderedItem.objects.update(body=b"x")
    maintenance.rebuild()
    assert bodies(site) == before
    assert bucket_counts() == published_counts()
    check_pages(site, 7)
