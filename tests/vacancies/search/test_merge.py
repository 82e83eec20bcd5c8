"""Changes are found at once, whether they are merged or not, whoever writes and merges at the same
time.
"""

import json
from array import array
from datetime import timedelta
from random import Random

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from pyroaring import BitMap64

from jobsite.dispatch import Stop
from jobsite.management.commands.deliver import make_dispatcher
from tests.factories import make_option, make_vacancy
from tests.parallel import at_once
from tests.vacancies.api.site import Site
from tests.vacancies.readmodel.helpers import elsewhere, on_postgresql
from vacancies.models import (
    Place,
    SearchChange,
    SearchTerm,
    Vacancy,
    VacancyOption,
)
from vacancies.search import index, triggers
from vacancies.search import merge as merging
from vacancies.search.index import ORDERS, Base, Index, in_order, reorder
from vacancies.search.merge import MergeJob, merge


def found(site, text):
    return [item["title"] for item in site.same(f"/v1/vacancies?filter[search]={text}")["data"]]


def changed():
    pks = set(SearchChange.objects.values_list("vacancy_id", flat=True))
    SearchChange.objects.all().delete()
    return pks


def test_every_writer_records_what_it_changes(db):
    vacancy, other = make_vacancy(), make_vacancy()
    option = make_option("regions", "Gent")
    assert changed() == {vacancy.pk, other.pk}
    one = Vacancy.objects.filter(pk=vacancy.pk)
    link = VacancyOption(vacancy=vacancy, option=option, position=0)
    place = Place(vacancy=vacancy, locality="Gent", country="BE")
    for write in (
        lambda: one.update(title="B"),
        lambda: one.update(status="draft"),
        lambda: one.update(language="nl"),
        lambda: one.update(publish_until=timezone.now()),
        lambda: one.update(brand=None),
        link.save,
        lambda: VacancyOption.objects.update(option=make_option("types", "X")),
        place.save,
        place.delete,
        link.delete,
        one.delete,
    ):
        write()
        assert changed() == {vacancy.pk}
    for values in ({"updated_at": timezone.now()}, {"pay_note": "x"}, {"title": other.title}):
        Vacancy.objects.update(**values)
        assert changed() == set()
    VacancyOption.objects.create(vacancy=other, option=option, position=0)
    make_vacancy(pk=77)
    changed()
    VacancyOption.objects.update(vacancy=77)
    assert changed() == {other.pk, 77}


def test_merged_words_disappear_with_their_last_vacancy(site):
    for title in ("Welder", "Nurse"):
        make_vacancy(title=title, language="en")
    merge()
    assert SearchTerm.objects.filter(term="twelder").exists()
    Vacancy.objects.filter(title="Welder").delete()
    merge()
    assert not SearchTerm.objects.filter(term="twelder").exists()
    texts = SearchTerm.objects.filter(term__in=["#words:en", "#keys:en", "#titles"]).values_list(
        "ids", flat=True
    )
    assert all(b"nurs" in bytes(text) and b"weld" not in bytes(text) for text in texts)
    assert found(site, "nurse") == ["Nurse"]


def test_dispatcher_and_hourly_command_merge(site, monkeypatch):
    monkeypatch.setattr(merging, "CHANGES_MIN", 10)
    dispatcher = make_dispatcher(Stop())
    for number in range(11):
        assert not MergeJob().next_due(timezone.now())
        make_vacancy(title=f"Nurse {number}")
    assert dispatcher.run_once()
    assert not SearchChange.objects.exists()
    make_vacancy(title="Nurse 99")
    assert found(site, "nurse")[0] == "Nurse 99"
    assert SearchChange.objects.exists()
    call_command("maintain_lists")
    assert not SearchChange.objects.exists()
    assert found(Site(), "nurse")[0] == "Nurse 99"


def test_another_language_of_the_site_makes_the_base_again(site, settings):
    make_vacancy(title="Vendeuse")
    merge()
    settings.LANGUAGE_CODE = "fr"
    merge()
    assert Base.read().language == "fr"
    assert found(site, "vendeur") == ["Vendeuse"]


def test_a_clock_behind_the_merge(site, time_machine):
    """The index has what had expired at its time. A node whose clock is earlier still shows it."""
    now = timezone.now()
    make_vacancy(title="Nurse", publish_until=now + timedelta(hours=1))
    time_machine.move_to(now + timedelta(hours=2))
    merge()
    assert found(site, "nurse") == []
    time_machine.move_to(now)
    assert found(site, "nurse") == ["Nurse"]


def test_no_merge_within_a_transaction(site):
    make_vacancy(title="Nurse")
    with transaction.atomic():
        merge()
    assert not SearchTerm.objects.exists()


def test_merge_that_fails_changes_nothing(site, monkeypatch):
    make_vacancy(title="Nurse")

    def fail(*args):
        raise ZeroDivisionError

    monkeypatch.setattr(merging._Merge, "_write_orders", fail)
    with pytest.raises(ZeroDivisionError):
        merge()
    assert not SearchTerm.objects.exists()
    assert found(site, "nurse") == ["Nurse"]


@on_postgresql
@pytest.mark.each_database
def test_change_that_commits_later_than_the_next(site):
    """Ids of changes have gaps, which are filled later."""
    make_vacancy(title="Nurse")
    with elsewhere() as execute:
        execute("UPDATE vacancies_vacancy SET title = 'Cook', search_text = ''")
        make_vacancy(title="Nurse 2")
        assert found(site, "nurse") == ["Nurse 2", "Nurse"]
        merge()
    assert SearchChange.objects.exists()
    for process in (site, Site()):
        assert found(process, "nurse") == ["Nurse 2"]
        assert found(process, "cook") == ["Cook"]


@on_postgresql
@pytest.mark.each_database
def test_readers_do_not_wait_for_a_merge(site):
    make_vacancy(title="Nurse")
    with elsewhere() as execute:
        execute("LOCK TABLE vacancies_searchterm IN SHARE ROW EXCLUSIVE MODE")
        assert found(site, "nurse") == ["Nurse"]


@pytest.mark.slow("threads that write and merge")
@pytest.mark.each_database
def test_writers_and_mergers_at_once(site):
    def write(word):
        def act():
            for number in range(10):
                made = make_vacancy(title=f"{word} {number}")
                Vacancy.objects.filter(pk=made.pk).update(title=f"{word} nurse {number}")
                if number % 3 == 0:
                    made.delete()

        return act

    def merges():
        return [merge() for _ in range(10)]

    make_vacancy(title="Nurse")
    results = at_once(write("cook"), write("baker"), merges, merges)
    assert [each for each in results if isinstance(each, Exception)] == []
    for process in (site, Site()):
        for text in ("nurse", "baker", "cook nurse", "cook 4"):
            found(process, text)
    merge(anew=True)
    assert len(found(Site(), "nurse")) == 13


@pytest.mark.parametrize("sort", ORDERS)
def test_reorder_finds_the_places_of_new_ids(db, monkeypatch, sort):
    """Also among equal keys, and at both ends."""
    monkeypatch.setattr(index, "WAYS", 3)
    random, days = Random(1), [timezone.now() + timedelta(days=day) for day in range(4)]
    made = Vacancy.objects.bulk_create(
        Vacancy(
            title=random.choice("abc"),
            publish_from=random.choice(days[:2]),
            publish_until=random.choice([None, *days[2:]]),
        )
        for _ in range(90)
    )
    order = in_order([each.pk for each in made], sort)
    for new in ([], order[:2], order[-2:], random.sample(order, 6)):
        before = [pk for pk in order if pk not in new]
        before = array("q", [*new[1:], *before])  # one is new, the others were elsewhere
        assert reorder(before, sort, BitMap64(new), BitMap64(new)).tolist() == order


def test_an_index_of_another_release_is_searched_and_made_anew(site, monkeypatch):
    make_vacancy(title="Welder")
    merge()
    monkeypatch.setattr(index, "FORMAT", index.FORMAT + 1)
    assert found(site, "welders") == ["Welder"]
    assert MergeJob().next_due(timezone.now())
    SearchTerm.objects.filter(term="twelder").delete()
    monkeypatch.setattr(merging, "FORMAT", index.FORMAT)
    triggers.after_migrations("default", plan=[])
    assert SearchTerm.objects.filter(term="twelder").exists()
    assert not MergeJob().next_due(timezone.now())


def test_a_base_of_the_release_before_is_outdated():
    assert Base([index.FORMAT - 1, 123], timezone.now(), 1, "en").is_outdated
    assert not Base().is_outdated
    assert not Base([index.FORMAT, 123], timezone.now(), 1, "en").is_outdated


def test_searches_go_on_while_the_index_changes(db):
    """A change replaces what another thread reads."""
    first = make_vacancy(title="Welder")
    before = Index(Base()).after({1: first.pk}, None)
    bitmap = before.union(["twelder"])
    after = before.after({2: make_vacancy(title="Welder").pk, 3: first.pk}, None)
    assert (list(bitmap), list(before.union(["twelder"]))) == ([first.pk], [first.pk])
    assert len(after.union(["twelder"])) == 2


def test_filters_and_counts_read_no_texts_of_changes(site, monkeypatch):
    """A program may have changed all vacancies at once: their texts take half a minute."""
    for number in range(3):
        make_vacancy(title=f"Nurse {number}", options={"regions": ["Gent"]})
    monkeypatch.setattr(index, "read_texts", lambda pks: pytest.fail("Texts are read."))
    assert len(site.same("/v1/vacancies?filter[regions]=gent&sort=title")["data"]) == 3
    assert json.loads(site.body("/v1/filters"))["data"][0]["options"][0]["count"] == 3


def test_texts_of_too_many_changes_wait_for_the_merge(site, monkeypatch):
    """The last changes are found at once, earlier ones as they were. Filters know all."""

    def shown(query):
        return [each["title"] for each in json.loads(site.body(f"/v1/vacancies?{query}"))["data"]]

    for module in (index, merging):
        monkeypatch.setattr(module, "TEXTS_MAX", 1)
    first = make_vacancy(title="Nurse")
    merge()
    first.title = "Welder 0"
    first.save()
    for number in (1, 2):
        make_vacancy(title=f"Welder {number}")
        assert shown("filter[search]=welder") == [f"Welder {number}"]
    searched = "/v1/vacancies?filter[search]=welder"
    assert Site().body(searched) == site.body(searched)
    assert shown("filter[search]=nurse") == ["Welder 0"]
    assert len(shown("sort=title")) == 3
    merge()
    assert sorted(found(site, "welder")) == ["Welder 0", "Welder 1", "Welder 2"]
    assert found(site, "nurse") == []
