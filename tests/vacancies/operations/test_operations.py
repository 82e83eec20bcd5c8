"""Publication, duplication, restoring and merging of options, without the admin pages."""

from datetime import UTC, date, datetime, timedelta
from itertools import product

import pytest
from django.contrib.auth.models import User

from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from vacancies import dates
from vacancies.history.versions import content_at, read_content, record
from vacancies.models import Attachment, Change, FilterOption, Vacancy, VacancyOption, Version
from vacancies.operations import options, publication, save
from vacancies.operations.restore import restore

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ALL = Vacancy.objects.all
STATES = {  # as `make_vacancy` takes them
    "draft": {"status": "draft", "publish_from": None},
    "scheduled": {"publish_from": NOW + DAY, "publish_until": NOW + 9 * DAY},
    "published": {"publish_from": NOW - 2 * DAY, "publish_until": NOW + 9 * DAY},
    "endless": {"publish_from": NOW - 2 * DAY},
    "expired": {"publish_from": NOW - 2 * DAY, "publish_until": NOW - DAY},
    "unpublished": {"status": "unpublished", "publish_from": NOW - 2 * DAY},
    "archived": {"status": "archived", "publish_from": None},
}


@pytest.fixture
def anna() -> User:
    return User.objects.create_user("anna")


def make_one(state: str, **values) -> Vacancy:
    return make_vacancy(title=state, updated_at=NOW - DAY, **STATES[state] | values)


def reasons(outcome: publication.BulkResult) -> dict[str, list[str]]:
    return {vacancy.title: list(why) for vacancy, why in outcome.refused.items()}


def rows() -> list[dict]:
    return list(Vacancy.objects.order_by("pk").values())


# --- publication ---


@pytest.mark.parametrize(
    ("decide", "state", "refused_for", "left"),
    [
        (publication.publish, "draft", None, ("published", NOW.replace(microsecond=0), None)),
        (publication.publish, "scheduled", None, ("published", NOW, NOW + 9 * DAY)),
        (publication.publish, "published", "status", None),
        (publication.publish, "expired", "publish_until", None),
        (publication.publish, "unpublished", None, ("published", NOW - 2 * DAY, None)),
        (publication.publish, "archived", None, ("published", NOW, None)),
        (publication.unpublish, "draft", "status", None),
        (publication.unpublish, "scheduled", None, ("unpublished", NOW + DAY, NOW + 9 * DAY)),
        (publication.unpublish, "published", None, ("unpublished", NOW - 2 * DAY, NOW + 9 * DAY)),
        (publication.unpublish, "expired", None, ("unpublished", NOW - 2 * DAY, NOW - DAY)),
        (publication.unpublish, "unpublished", "status", None),
        (publication.unpublish, "archived", "status", None),
        (publication.archive, "draft", None, ("archived", None, None)),
        (publication.archive, "scheduled", "status", None),
        (publication.archive, "published", "status", None),
        (publication.archive, "expired", None, ("archived", NOW - 2 * DAY, NOW - DAY)),
        (publication.archive, "unpublished", None, ("archived", NOW - 2 * DAY, None)),
        (publication.archive, "archived", "status", None),
    ],
)
def test_publication_action_changes_or_refuses_by_state(decide, state, refused_for, left, anna):
    vacancy = make_one(state)
    before = rows()

    outcome = decide(vacancies=ALL(), at=NOW, author=anna)

    if refused_for:
        assert (outcome.done, reasons(outcome)) == ([], {state: [refused_for]})
        assert (rows(), Version.objects.count()) == (before, 0)
        return
    assert (outcome.done, outcome.refused) == ([vacancy.pk], {})
    vacancy.refresh_from_db()
    assert (vacancy.status, vacancy.publish_from, vacancy.publish_until) == left
    assert vacancy.updated_at == NOW
    [version] = Version.objects.all()
    assert (version.author, version.created_at, version.brand) == (anna, NOW, vacancy.brand)
    assert version.content == {
        name: value and value.isoformat() if isinstance(value, datetime) else value
        for name, value in zip(("status", "publish_from", "publish_until"), left, strict=True)
    }


@pytest.mark.parametrize(
    ("state", "moment", "refused_for"),
    [
        ("draft", NOW + DAY, None),
        ("draft", NOW, "publish_from"),
        ("draft", NOW - DAY, "publish_from"),
        ("scheduled", NOW + 2 * DAY, None),
        ("scheduled", NOW + 9 * DAY, "publish_until"),  # where it ends
        ("scheduled", NOW + 10 * DAY, "publish_until"),
        ("published", NOW + DAY, "status"),
        ("expired", NOW + DAY, "publish_until"),
        ("unpublished", NOW + DAY, None),
        ("archived", NOW + DAY, None),
    ],
)
def test_schedule_requires_a_future_time_before_the_end(state, moment, refused_for):
    vacancy = make_one(state)
    before = rows()

    outcome = publication.schedule(vacancies=ALL(), publish_from=moment, at=NOW)

    assert reasons(outcome) == ({state: [refused_for]} if refused_for else {})
    if refused_for:
        assert rows() == before
    else:
        vacancy.refresh_from_db()
        assert (vacancy.state_at(NOW), vacancy.publish_from) == ("scheduled", moment)
        assert vacancy.state_at(moment) == "published"


@pytest.mark.parametrize(
    ("state", "day", "refused_for"),
    [
        ("published", date(2026, 4, 1), None),
        ("scheduled", date(2026, 4, 1), None),
        ("expired", date(2026, 3, 2), None),  # today
        ("expired", date(2026, 3, 1), "publish_until"),
        ("published", date(2026, 3, 5), "publish_until"),  # would be shorter
        ("endless", date(2026, 4, 1), "publish_until"),
        ("draft", date(2026, 4, 1), "status"),
        ("unpublished", date(2026, 4, 1), "status"),
        ("archived", date(2026, 4, 1), "status"),
    ],
)
def test_extend_never_shortens(state, day, refused_for):
    vacancy = make_one(state)
    before = rows()

    outcome = publication.extend(vacancies=ALL(), day=day, at=NOW)

    assert reasons(outcome) == ({state: [refused_for]} if refused_for else {})
    if refused_for:
        assert rows() == before
    else:
        vacancy.refresh_from_db()
        assert vacancy.publish_until == datetime(day.year, day.month, day.day, tzinfo=UTC) + DAY


def test_publishing_requires_a_head_recruiter_brand_and_description():
    bare = make_one("draft", description="")
    Vacancy.objects.update(head_recruiter=None, brand=None)
    for decide, more in (
        (publication.schedule, {"publish_from": NOW + DAY}),
        (publication.publish, {}),
    ):
        ready = make_one("unpublished")
        outcome = decide(vacancies=ALL().filter(pk__in=[bare.pk, ready.pk]), at=NOW, **more)
        assert outcome.done == [ready.pk]
        assert reasons(outcome) == {"draft": ["head_recruiter", "brand", "description"]}
        bare.refresh_from_db()
        assert (bare.status, bare.publish_from) == ("draft", None)


def test_publication_action_is_atomic(monkeypatch):
    for _ in range(3):
        make_one("published")
    before = rows()

    def fail(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr(save, "record_values", fail)
    with pytest.raises(RuntimeError):
        publication.unpublish(vacancies=ALL(), at=NOW)

    assert rows() == before


def test_publication_action_has_a_constant_number_of_queries(django_assert_max_num_queries):
    found = []
    for rows in (1, 3):
        for _ in range(rows):
            make_one("draft")
        with django_assert_max_num_queries(6) as queries:
            assert len(publication.publish(vacancies=ALL(), at=NOW).done) == rows
        found.append(len(queries))
    assert found[0] == found[1]


def test_publication_action_does_not_change_texts():
    vacancy = make_one("draft", description="<p>Crème brûlée</p>", profile="<p>Chef</p>")
    [before] = rows()

    publication.publish(vacancies=ALL(), at=NOW)

    [after] = rows()
    assert after == before | {"status": "published", "publish_from": NOW, "updated_at": NOW}
    assert vacancy.pk in Vacancy.objects.filter(search_text__contains="creme").values_list(
        "pk", flat=True
    )


# --- duplicate ---


def test_duplicate_is_a_draft_with_everything_but_the_dates(anna):
    options = {"regions": ["Ghent", "Antwerp"], "functiongroup": ["Care"]}
    vacancy = make_one(
        "published",
        options=options,
        recruiters=("Zoë", "Bob"),
        image="vacancies/a.png",
        audience="internal",
    )
    Attachment.objects.create(
        vacancy=vacancy, name="b.pdf", url="https://acme.test/b.pdf", position=2
    )
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", file="attachments/a.pdf", position=1)
    before = read_content(vacancy)

    copy = publication.duplicate(vacancy=vacancy, at=NOW, author=anna)

    dates = {"status": "draft", "publish_from": None, "publish_until": None}
    assert read_content(copy) == before | dates | {"title": "Copy of published"}
    assert read_content(vacancy) == before
    assert (copy.created_at, copy.updated_at) == (NOW, NOW)
    [version] = Version.objects.all()
    assert (version.vacancy_id, version.change, version.author) == (
        copy.pk,
        Change.DUPLICATED,
        anna,
    )
    assert content_at(version) == read_content(copy)
    vacancy = make_vacancy(title="x" * 300)
    assert publication.duplicate(vacancy=vacancy, at=NOW).title == f"Copy of {'x' * 292}"


# --- bring back ---


def test_restore_changes_content_but_not_publication(anna):
    vacancy = make_one(
        "published",
        options={"regions": ["Ghent", "Antwerp"]},
        recruiters=("Zoë", "Bob"),
        is_hot=True,
    )
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    version = record(vacancy, Change.CREATED, author=anna, at=NOW)
    then = read_content(vacancy)
    other = make_recruiter("Other head")
    Vacancy.objects.update(
        title="New",
        description="<p>New</p>",
        is_hot=False,
        brand=make_brand("Other"),
        head_recruiter=other,
        status="unpublished",
        publish_until=None,
        audience="both",
    )
    vacancy.choices.all().delete()
    VacancyOption.objects.create(vacancy=vacancy, option=make_option("types", "Nurse"))
    vacancy.recruiter_links.all().delete()
    vacancy.attachments.all().delete()
    Attachment.objects.create(vacancy=vacancy, name="new.pdf", url="https://acme.test/new.pdf")
    now = read_content(vacancy)

    done = restore(version, author=anna, at=NOW + HOUR)
    brought, gone = done.vacancy, done.plan.missing

    kept = {
        name: now[name] for name in ("status", "publish_from", "publish_until", "audience", "brand")
    }
    assert (read_content(brought), gone) == (then | kept, [])
    brought.refresh_from_db()
    assert brought.updated_at == NOW + HOUR
    assert brought.pk in Vacancy.objects.filter(search_text__contains="text").values_list(
        "pk", flat=True
    )
    assert brought.pk not in Vacancy.objects.filter(search_text__contains="new").values_list(
        "pk", flat=True
    )
    found = Version.objects.order_by("pk").values_list("change", "author")
    assert list(found) == [("created", anna.pk), ("found", None), ("restored", anna.pk)]
    # What was found is on record too, so the way back has a way back.
    back = restore(Version.objects.get(change="found"), author=anna, at=NOW + 2 * HOUR)
    assert read_content(back.vacancy) == now


def test_deleted_vacancy_is_restored_as_a_draft_without_missing_rows(client, anna):
    vacancy = make_one(
        "published",
        brand=make_brand("Gone brand"),
        head_recruiter=make_recruiter("Gone head"),
        options={"regions": ["Ghent", "Gone", "Antwerp"]},
        recruiters=("Zoë", "Gone too"),
        audience="both",
    )
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    pk, then = vacancy.pk, read_content(vacancy)
    version = record(vacancy, Change.DELETED, author=anna, at=NOW)
    vacancy.delete()
    FilterOption.objects.get(label="Gone").delete()
    for gone in (make_recruiter("Gone head"), make_recruiter("Gone too"), make_brand("Gone brand")):
        gone.delete()
    version.refresh_from_db()
    assert (version.brand, version.vacancy_id) == (None, pk)

    done = restore(version, author=anna, at=NOW)
    brought, gone = done.vacancy, done.plan.missing

    assert (brought.pk, brought.created_at) == (pk, NOW)
    assert sorted(gone) == ["Gone", "Gone brand", "Gone head", "Gone too"]
    assert read_content(brought) == then | {
        "status": "draft",
        "publish_from": None,
        "publish_until": None,
        "brand": None,
        "head_recruiter": None,
        "regions": [then["regions"][0], then["regions"][2]],
        "recruiters": then["recruiters"][:1],
    }
    assert client.get(f"/v1/vacancies/{pk}").status_code == 404

    Vacancy.objects.update(brand=make_brand(), head_recruiter=make_recruiter())
    assert publication.publish(vacancies=ALL(), at=NOW).done == [pk]
    item = client.get(f"/v1/vacancies/{pk}").json()["data"]
    assert (item["title"], item["regions"]) == ("published", ["Ghent", "Antwerp"])
    assert [each["name"] for each in item["recruiters"]] == ["Zoë"]


# --- options ---


def labels(vacancy: Vacancy) -> list[str]:
    return list(vacancy.choices.order_by("position", "pk").values_list("option__label", flat=True))


def test_merge_keeps_the_position_of_the_merged_options():
    only_other = make_vacancy(options={"regions": ["Gent", "Antwerp"]}, updated_at=NOW - DAY)
    two_others = make_vacancy(options={"regions": ["Antwerp", "Gand", "Leuven", "Gent"]})
    both = make_vacancy(options={"regions": ["Gent", "Leuven", "Ghent"]})
    already = make_vacancy(options={"regions": ["Ghent"]}, updated_at=NOW - DAY)
    into, *others = (make_option("regions", label) for label in ("Ghent", "Gent", "Gand"))

    assert options.merge_options(into=into, others=others) == 3

    assert labels(only_other) == ["Ghent", "Antwerp"]
    assert labels(two_others) == ["Antwerp", "Ghent", "Leuven"]
    assert labels(both) == ["Leuven", "Ghent"]
    assert labels(already) == ["Ghent"]
    assert sorted(FilterOption.objects.values_list("label", flat=True)) == [
        "Antwerp",
        "Ghent",
        "Leuven",
    ]
    only_other.refresh_from_db()
    already.refresh_from_db()
    assert (only_other.updated_at, already.updated_at) == (NOW, NOW - DAY)


def test_merge_of_many_vacancies_takes_batches(monkeypatch):
    monkeypatch.setattr(options, "BATCH", 2)
    vacancies = [make_vacancy(options={"regions": ["Gent"]}) for _ in range(5)]
    into, other, unused = (make_option("regions", label) for label in ("Ghent", "Gent", "Gand"))
    assert options.merge_options(into=into, others=[other]) == 5
    assert [labels(vacancy) for vacancy in vacancies] == [["Ghent"]] * 5
    before = rows()
    assert options.merge_options(into=into, others=[unused]) == 0
    assert rows() == before


def test_last_day_is_the_inverse_of_the_end_of_a_day(settings):
    days = (date(2026, 3, 29), date(2026, 10, 25), date(2028, 2, 29), date(2026, 12, 31))
    for zone, day in product(("Europe/Brussels", "America/New_York", "Pacific/Apia", "UTC"), days):
        settings.TIME_ZONE = zone
        end, moment = dates.end_of_day(day), timedelta(microseconds=1)
        found = [dates.last_day(each) for each in (end - moment, end, end + moment)]
        assert found == [day, day, day + DAY], (zone, day)
