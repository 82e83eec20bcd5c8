"""After each kind of change, a copy that follows the feed equals the list."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from jobsite.api.caching import REQUEST_TIME
from tests.factories import make_brand, make_option, make_vacancy
from tests.vacancies.feed.simulation import Copy
from vacancies.api import rendered_items
from vacancies.models import (
    Attachment,
    Brand,
    FilterOption,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
)
from vacancies.readmodel.maintenance import mark_expired
from vacancies.readmodel.totals import is_maintained

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL")
HOUR = timedelta(hours=1)


@pytest.fixture
def clients():
    """Clients that have everything: of the public and the internal list, and of a brand."""
    make_brand("Beta", slug="beta")
    options, people = {"regions": ["Antwerp"]}, ("Sam",)
    for number in range(3):
        make_vacancy(reference=f"n{number}", options=options, recruiters=people, audience="both")
    make_vacancy(reference="beta", brand=Brand.objects.get(slug="beta"))
    ended = {"publish_from": timezone.now() - 9 * HOUR, "publish_until": timezone.now() - HOUR}
    make_vacancy(reference="ended", **ended)
    copies = [Copy(*each) for each in (("external", "", 50), ("internal", "", 2))]
    copies += [Copy("external", brand, 1) for brand in ("acme", "beta")]
    for copy in copies:
        follow(copy)
    return copies


def follow(copy, at=None, *, is_exact=True):
    """Read all. Return the ids that come, and those that go."""
    before = set(copy.items)
    found = {"upsert": set(), "remove": set()}
    http, at = Client(), at or timezone.now()
    for _ in range(100):
        body = http.get(copy.url or copy.start, **{REQUEST_TIME: at}).json()
        for change in body.get("data", ()):
            found[change["change"]].add(change["id"])
        if not copy.read(http, at):
            break
    if is_exact:
        copy.compare(http, at)
    assert found["upsert"].isdisjoint(found["remove"])
    copy.named = found["upsert"] | found["remove"]
    return sorted(found["upsert"]), sorted(found["remove"] & before)


def rows(**values):
    return Vacancy.objects.filter(**values)


def sql(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def reopen():
    """Save a row again that is marked as expired."""
    if is_maintained():
        mark_expired()
    vacancy = Vacancy.objects.get(reference="ended")
    vacancy.publish_until = timezone.now() + HOUR
    vacancy.save()


def twice():
    with transaction.atomic():
        rows(reference="n0").update(status="draft")
        rows(reference="n1").update(brand=Brand.objects.get(slug="beta"))
        rows(reference="n0").update(status="published", title="Again")


CHANGES = {
    "bulk SQL": lambda: sql("UPDATE vacancies_vacancy SET title = title || ' x'"),
    "bulk SQL of statuses": lambda: sql("UPDATE vacancies_vacancy SET status = 'unpublished'"),
    "deletion": lambda: rows(reference="n0").delete(),
    "an audience": lambda: rows(reference="n1").update(audience="internal"),
    "a brand that moves": lambda: rows(reference="n1").update(brand=Brand.objects.get(slug="beta")),
    "no brand": lambda: rows(reference="n1").update(brand=None),
    "two changes of one transaction": twice,
    "an expired row that is saved again": reopen,
    "a place": lambda: Place.objects.create(vacancy=rows()[0], locality="Ghent", country="BE"),
    "an attachment": lambda: Attachment.objects.create(vacancy=rows()[0], name="a.pdf", url="/a"),
    "options": lambda: VacancyOption.objects.filter(vacancy=rows()[0]).delete(),
    "the name of an option": lambda: FilterOption.objects.update(label="Anvers"),
    "the text of a brand": lambda: Brand.objects.update(description="<p>Other</p>"),
    "the name of a recruiter": lambda: Recruiter.objects.filter(name="Sam").update(name="Samira"),
    "a head recruiter": lambda: Recruiter.objects.filter(name="An Peeters").update(function="HR"),
    "an option of another filter": lambda: VacancyOption.objects.create(
        vacancy=rows()[0], option=make_option("types", "Nurse")
    ),
}


@pytest.mark.slow("many changes, four clients each")
@pytest.mark.each_database
@pytest.mark.parametrize("name", CHANGES)
def test_copies_equal_the_lists_after(clients, name):
    before = [dict(copy.items) for copy in clients]
    CHANGES[name]()
    for copy in clients:
        follow(copy)
    assert [copy.items for copy in clients] != before  # else the change is none


@on_postgresql
def test_copies_equal_the_lists_after_truncate(clients):
    before = set(clients[0].items)
    sql("TRUNCATE vacancies_vacancy CASCADE")
    assert follow(clients[0]) == ([], sorted(before))
    assert [follow(copy) and copy.items for copy in clients[1:]] == [{}, {}, {}]


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_all_vacancies_come_again_when_items_have_another_format(clients, monkeypatch):
    rendered_items.note_format()
    follow(clients[0])
    monkeypatch.setattr(rendered_items, "ITEM_FORMAT", 10**6)
    rendered_items._stored_version.cache_clear()

    assert rendered_items.note_format()
    assert not rendered_items.note_format()
    assert follow(clients[0]) == (sorted(clients[0].items), [])
    rendered_items._stored_version.cache_clear()


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_starts_and_ends_come_with_the_clock(clients):
    copy, now = clients[0], timezone.now()
    start = make_vacancy(publish_from=now + HOUR, publish_until=now + 3 * HOUR).pk
    assert follow(copy, now) == ([], [])
    assert follow(copy, now + 2 * HOUR) == ([start], [])
    assert follow(copy, now + 4 * HOUR) == ([], [start])


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_clock_that_goes_back_misses_nothing(clients):
    """The other server was ten minutes ahead. What it showed stays, and comes again in time."""
    copy, now = clients[0], timezone.now()
    start = make_vacancy(publish_from=now + HOUR / 12).pk
    assert follow(copy, now + HOUR / 6) == ([start], [])
    rows(reference="n0").update(title="Other")
    follow(copy, now, is_exact=False)
    assert copy.items[rows(reference="n0")[0].pk]["title"] == "Other"
    assert start in follow(copy, now + HOUR / 4)[0]


# --- What was never public ------------------------------------------------------------------------


def scheduled():
    pk = make_vacancy(publish_from=timezone.now() + HOUR).pk
    rows(pk=pk).update(title="Still to come")
    rows(pk=pk).delete()
    return pk


def draft():
    pk = make_vacancy(status="draft").pk
    rows(pk=pk).update(title="Draft")
    rows(pk=pk).delete()
    return pk


def internal():
    pk = make_vacancy(audience="internal").pk
    rows(pk=pk).update(title="Internal")
    rows(pk=pk).delete()
    return pk


def published_and_withdrawn():
    """R2: nobody saw it."""
    with transaction.atomic():
        pk = make_vacancy(status="draft").pk
        rows(pk=pk).update(status="published")
        rows(pk=pk).update(status="draft")
    return pk


@pytest.mark.parametrize(
    "make", [scheduled, draft, internal, pytest.param(published_and_withdrawn, marks=on_postgresql)]
)
def test_vacancy_that_never_was_public_is_in_no_change(clients, make):
    pk = make()
    follow(clients[0])
    assert pk not in clients[0].named


@on_postgresql
def test_withdrawn_vacancy_would_be_removed_without_the_rule(clients):
    """R2, in two transactions: it was public."""
    pk = make_vacancy().pk
    rows(pk=pk).update(status="draft")
    follow(clients[0])
    assert pk in clients[0].named


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_one_brand_has_no_changes_of_another(clients):
    rows(reference="beta").update(publish_until=timezone.now() - HOUR / 9)
    acme, beta = clients[2:]
    pk = rows(reference="beta")[0].pk
    assert follow(beta) == ([], [pk])
    follow(acme)
    assert pk not in acme.named
