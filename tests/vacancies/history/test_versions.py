"""Versions of vacancies: author, time, changed fields, restoring, and replay."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import ADD, LIST, NO_ROWS, opened, page, run, saved, staff
from vacancies.choices import Keyword
from vacancies.fields import html_fields, plain_fields
from vacancies.history.versions import (
    EXCLUDED_FIELDS,
    content_at,
    read_content,
    record,
    record_drift,
    replay,
)
from vacancies.models import Attachment, Change, FilterOption, Vacancy, VacancyRecruiter, Version
from vacancies.operations import options, publication
from vacancies.operations.restore import restore
from vacancies.operations.undo import delete

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
HOUR = timedelta(hours=1)


def reported(vacancy: Any = None) -> list[tuple[str, str | None, list[str]]]:
    """Return the versions in order: the change, the author and the recorded fields."""
    versions = Version.objects.order_by("pk").select_related("author")
    if vacancy:
        versions = versions.filter(vacancy=vacancy.pk)
    return [
        (version.change, version.author and version.author.username, sorted(version.content))
        for version in versions
    ]


def folded(vacancy: Vacancy) -> dict[str, Any]:
    return replay(Version.objects.filter(vacancy=vacancy.pk))


EVERYTHING = sorted(
    [
        "brand",
        "image",
        "head_recruiter",
        "form",
        "places",
        "remote_countries",
        "recruiters",
        "attachments",
    ]
    + Keyword.values
    + [field.name for field in plain_fields(Vacancy)]
)


# --- on record ---


def test_creation_is_recorded_with_the_whole_content(anna: Client, time_machine: Any) -> None:
    time_machine.move_to(NOW, tick=False)
    region = make_option("regions", "Ghent")
    form = {
        **NO_ROWS,
        "title": "Nurse",
        "status": "draft",
        "audience": "public",
        "regions": [region.pk],
    }

    assert saved(anna.post(ADD, form))

    vacancy = Vacancy.objects.get()
    assert reported() == [("created", "anna", EVERYTHING)]
    version = Version.objects.get()
    assert (version.created_at, version.brand, version.content) == (
        NOW,
        None,
        read_content(vacancy),
    )
    assert version.content["regions"] == [[region.pk, "Ghent"]]


@pytest.mark.slow("opens and saves the form several times")
def test_edit_is_recorded_with_the_changed_fields(anna: Client, time_machine: Any) -> None:
    ghent, antwerp = make_option("regions", "Ghent"), make_option("regions", "Antwerp")
    vacancy = make_vacancy(options={"regions": ["Ghent", "Antwerp"]}, recruiters=("Bob",))
    colleague = make_recruiter("Zoë")
    record(vacancy, Change.CREATED, author=None, at=NOW)
    Version.objects.update(author=User.objects.get(username="anna"))
    bob = vacancy.recruiter_links.get()
    links = {
        "recruiter_links-TOTAL_FORMS": "2",
        "recruiter_links-0-id": bob.pk,
        "recruiter_links-0-position": "5",
        "recruiter_links-1-recruiter": colleague.pk,
        "recruiter_links-1-position": "3",
    }
    steps: list[tuple[dict[str, Any], str]] = [
        ({"title": "Head nurse"}, "title"),
        ({"description": "<p>Cure</p>"}, "description"),
        ({"regions": [antwerp.pk, ghent.pk]}, "regions"),
        ({"last_day": "2198-07-31"}, "publish_until"),
        ({"brand": make_brand("Other").pk}, "brand"),
        (links, "recruiters"),
        (
            {"attachments-TOTAL_FORMS": "1", "attachments-0-url": "https://acme.test/a.pdf"},
            "attachments",
        ),
    ]
    for number, (change, name) in enumerate(steps, start=1):
        time_machine.move_to(NOW + number * HOUR, tick=False)
        assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | change)), change
        version = Version.objects.first()
        found = (version.change, version.created_at, list(version.content))
        assert found == ("changed", NOW + number * HOUR, [name])
        assert folded(vacancy) == read_content(vacancy)
    assert [name for _, name in folded(vacancy)["recruiters"]] == ["Zoë", "Bob"]
    assert Version.objects.first().brand == make_brand("Other")


def test_save_without_a_change_creates_no_version(anna: Client) -> None:
    """Nor does a renamed related row, or a save that is refused."""
    vacancy = make_vacancy(
        title="Nurse",
        description="<p>Care\nfor people</p>\n",
        options={"regions": ["Gent"]},
        recruiters=("Bob",),
    )
    form = opened(anna, page(vacancy))
    assert not saved(anna.post(page(vacancy), form | {"title": "New", "head_recruiter": ""}))
    assert reported() == []
    assert saved(anna.post(page(vacancy), form | {"title": "Head nurse"}))
    before = reported()
    for row in (vacancy.brand, vacancy.head_recruiter, make_recruiter("Bob")):
        type(row).objects.filter(pk=row.pk).update(name=f"{row.name} & Co")
    FilterOption.objects.update(label="Ghent")

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy))))

    assert reported() == before == [("found", None, EVERYTHING), ("changed", "anna", ["title"])]


def test_deletion_is_recorded_with_the_whole_content(anna: Client) -> None:
    vacancy = make_vacancy(options={"regions": ["Ghent"]}, recruiters=("Bob",))
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    then, others = read_content(vacancy), [make_vacancy() for _ in range(2)]

    assert run(anna, "delete", [vacancy, *others]) == ["3 vacancies were deleted."]

    assert not Vacancy.objects.exists()
    for each in (vacancy, *others):
        assert reported(each) == [("found", None, EVERYTHING), ("deleted", "anna", EVERYTHING)]
    assert (
        folded(vacancy) == Version.objects.get(vacancy=vacancy.pk, change="deleted").content == then
    )
    assert Version.objects.first().brand == make_brand()


# --- pages ---


def history(client: Client, vacancy: Any) -> str:
    response = client.get(f"{LIST}{vacancy.pk}/history/")
    assert response.status_code == 200
    return response.content.decode()


def test_history_lists_versions_newest_first(anna: Client, time_machine: Any) -> None:
    time_machine.move_to(NOW, tick=False)
    vacancy = make_vacancy(title="Nurse")
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"title": "Head nurse"}))

    response = anna.get(f"{LIST}{vacancy.pk}/history/")

    changed, found = response.context["rows"]
    assert (changed["version"].change, changed["created_at"], changed["is_current"]) == (
        "changed",
        "2 Mar 2026, 09:30",
        True,
    )
    assert [(each.label, each.marked) for each in changed["differences"]] == [
        ("Title", "<div><del>Nurse</del> <ins>Head nurse</ins></div>")
    ]
    assert (found["version"].change, found["is_baseline"], found["is_current"]) == (
        "found",
        True,
        False,
    )
    html = response.content.decode()
    assert "Anna Peeters" in html
    assert "by an import or a command" in html


def test_history_has_a_constant_number_of_queries(
    anna: Client, django_assert_max_num_queries: Any
) -> None:
    vacancy, found = make_vacancy(), []
    for titles in (("A",), ("B", "C")):
        for title in titles:
            Vacancy.objects.update(title=title)
            record(vacancy, Change.CHANGED, author=User.objects.get(username="anna"), at=NOW)
        history(anna, vacancy)
        with django_assert_max_num_queries(12) as queries:
            history(anna, vacancy)
        found.append(len(queries))
    assert found[0] == found[1]
    numbers = [Version(vacancy=vacancy, change=Change.CHANGED, content={}, created_at=NOW)] * 18
    Version.objects.bulk_create(numbers)
    assert len(anna.get(f"{LIST}{vacancy.pk}/history/?page=2").context["rows"]) == 1


def test_version_of_another_vacancy_or_brand_is_not_found(anna: Client) -> None:
    mine, other = make_vacancy(brand=make_brand("Mine")), make_vacancy(brand=make_brand("Other"))
    own, foreign = (record(each, Change.CREATED, author=None, at=NOW).pk for each in (mine, other))
    recruiter = staff(
        "recruiter", "view_vacancy", "change_vacancy", "add_vacancy", brands=[mine.brand]
    )
    number = other.pk
    assert recruiter.get(f"{LIST}{mine.pk}/versions/{own}/").status_code == 200
    assert anna.get(f"{LIST}{mine.pk}/versions/{foreign}/").status_code == 404
    assert anna.post(f"{LIST}{mine.pk}/versions/{foreign}/").status_code == 404
    for url in ("history/", f"versions/{foreign}/"):
        assert recruiter.get(f"{LIST}{number}/{url}").status_code == 404
        assert recruiter.post(f"{LIST}{number}/{url}").status_code in (404, 405)
    record(other, Change.DELETED, author=None, at=NOW)
    other.delete()
    for url in ("history/", f"versions/{foreign}/"):
        assert recruiter.get(f"{LIST}{number}/{url}").status_code == 404
    assert recruiter.get(f"{LIST}deleted/").context["page"].paginator.count == 0
    for unknown in ("0", "9" * 24, "x"):
        assert anna.get(f"{LIST}{mine.pk}/versions/{unknown}/").status_code in (302, 404)
        assert anna.get(f"{LIST}{unknown}/history/").status_code == 404
    bare = make_vacancy()
    run(anna, "unpublish", [bare])
    version = Version.objects.get(vacancy=bare.pk)  # has no content
    assert not anna.get(f"{LIST}{bare.pk}/history/").context["rows"][0]["can_restore"]
    assert anna.post(f"{LIST}{bare.pk}/versions/{version.pk}/").status_code == 404


def test_restore_page_shows_the_changes_and_restores_on_post(anna: Client) -> None:
    vacancy = make_vacancy(title="Nurse", audience="public", options={"regions": ["Gent"]})
    version = record(vacancy, Change.CREATED, author=None, at=NOW)
    Vacancy.objects.update(title="Head nurse", audience="both", status="unpublished")
    # No difference of this vacancy.
    make_option("regions", "Gent").__class__.objects.update(label="Ghent")
    url = f"{LIST}{vacancy.pk}/versions/{version.pk}/"

    response = anna.get(url)
    assert [(each.name, each.marked) for each in response.context["differences"]] == [
        ("title", "<div><del>Head nurse</del> <ins>Nurse</ins></div>")
    ]
    assert Vacancy.objects.get().title == "Head nurse"
    assert anna.post(url)["Location"] == page(vacancy)
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.audience, vacancy.status) == ("Nurse", "both", "unpublished")
    assert [change for change, _, _ in reported()] == ["created", "found", "restored"]

    vacancy = make_vacancy(description="")
    version = record(vacancy, Change.CREATED, author=None, at=NOW)
    Vacancy.objects.filter(pk=vacancy.pk).update(description="<p>Care</p>")
    refused = anna.post(f"{LIST}{vacancy.pk}/versions/{version.pk}/")
    assert messages_of(refused)[-1] == "A vacancy needs a description to be published."
    assert len(reported(vacancy)) == 1


@pytest.mark.slow("opens many pages")
def test_deleted_vacancy_is_restored_from_its_page(anna: Client) -> None:
    vacancy = make_vacancy(title="Nurse", image="vacancies/a.png", options={"regions": ["Ghent"]})
    then, number = read_content(vacancy), vacancy.pk
    assert saved(anna.post(f"{LIST}{number}/delete/", {"post": "yes"}))
    make_option("regions", "Ghent").delete()
    [deleted] = anna.get(f"{LIST}deleted/").context["page"]
    assert (deleted.content["title"], deleted.vacancy_id) == ("Nurse", number)
    assert anna.get(f"{LIST}{number}/history/").context["rows"][0]["version"] == deleted
    url = f"{LIST}{number}/versions/{deleted.pk}/"
    assert anna.get(url).status_code == 200

    assert messages_of(anna.post(url))[-2:] == [
        "The version was restored.",
        "Not restored because they no longer exist: Ghent.",
    ]
    draft = {"status": "draft", "publish_from": None, "publish_until": None, "regions": []}
    assert read_content(Vacancy.objects.get(pk=number)) == then | draft
    assert list(anna.get(f"{LIST}deleted/").context["page"]) == []
    # deleted again, it is there once
    assert saved(anna.post(f"{LIST}{number}/delete/", {"post": "yes"}))
    [again] = anna.get(f"{LIST}deleted/").context["page"]
    assert again.pk > deleted.pk


# --- it adds up ---

TITLES = st.sampled_from(["Nurse", "Cook", "Porter"])
TEXTS = st.sampled_from(["", "<p>One</p>", "<p>Two <b>three</b></p>", "<ul><li>é</li></ul>"])
PICKS = st.permutations(range(3)).flatmap(lambda order: st.integers(0, 3).map(lambda n: order[:n]))
EDITS = st.one_of(
    st.tuples(st.just("title"), TITLES),
    st.tuples(st.sampled_from(html_fields(Vacancy)), TEXTS),
    st.tuples(st.sampled_from(["is_hot", "is_permanent"]), st.booleans()),
    st.tuples(st.just("location"), st.sampled_from(["", "Ghent", "a\nb"])),
    st.tuples(st.just("image"), st.sampled_from(["", "vacancies/a.png"])),
    st.tuples(st.just("brand"), st.sampled_from([None, 0, 1])),
    st.tuples(st.just("head_recruiter"), st.sampled_from([None, 0, 1])),
    st.tuples(st.just("audience"), st.sampled_from(["public", "internal", "both"])),
    st.tuples(st.sampled_from(["regions", "types", "recruiters", "attachments"]), PICKS),
    st.tuples(st.sampled_from(["publish", "unpublish", "archive", "schedule"]), st.none()),
)
STEPS = st.lists(st.tuples(st.lists(EDITS, max_size=3), st.booleans()), min_size=1, max_size=6)


def act(vacancy: Vacancy, name: str, value: Any, author: Any) -> None:
    """Apply one edit to the vacancy with the functions that the pages use."""
    if name in ("publish", "unpublish", "archive", "schedule"):
        more = {"publish_from": NOW + HOUR} if name == "schedule" else {}
        decide = getattr(publication, name)
        decide(vacancies=Vacancy.objects.filter(pk=vacancy.pk), at=NOW, author=author, **more)
    elif name in ("regions", "types"):
        pks = [make_option(name, f"{name} {pick}").pk for pick in value]
        options.save_options(vacancy=vacancy, keyword=Keyword(name), pks=pks)
    elif name == "recruiters":
        vacancy.recruiter_links.all().delete()
        for place, pick in enumerate(value):
            person = make_recruiter(f"R{pick}")
            VacancyRecruiter.objects.create(vacancy=vacancy, recruiter=person, position=place)
    elif name == "attachments":
        vacancy.attachments.all().delete()
        for place, pick in enumerate(value):
            url = f"https://acme.test/{pick}"
            Attachment.objects.create(vacancy=vacancy, name=f"{pick}", url=url, position=place)
    else:
        row = Vacancy.objects.get(pk=vacancy.pk)
        if name in ("brand", "head_recruiter") and row.status == "published" and value is None:
            return  # what the form refuses
        if name == "description" and not value and row.status == "published":
            return
        makers = {"brand": make_brand, "head_recruiter": make_recruiter}
        if name in makers and value is not None:
            value = makers[name](f"{name} {value}")
        setattr(row, name, value)
        row.save()


@pytest.mark.slow("edits many vacancies")
@pytest.mark.each_database
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, data=st.data())
def test_replayed_versions_equal_the_vacancy_and_can_be_restored(filters, steps, data):
    author = User.objects.get_or_create(username="author")[0]
    vacancy = make_vacancy(status="draft", publish_from=None)
    record(vacancy, Change.CREATED, author=author, at=NOW)
    then = {Version.objects.first().pk: read_content(vacancy)}
    for edits, is_outside in steps:
        for name, value in edits:
            act(vacancy, name, value, author)
        if is_outside:
            record_drift(vacancy, at=NOW)
        else:
            record(vacancy, Change.CHANGED, author=author, at=NOW)
        now = read_content(vacancy)
        assert folded(vacancy) == now
        then[Version.objects.first().pk] = now
    number = data.draw(st.sampled_from(sorted(then)))
    version = Version.objects.get(pk=number)
    assert content_at(version) == then[number]
    if data.draw(st.booleans()):
        delete(vacancies=Vacancy.objects.filter(pk=vacancy.pk), at=NOW, author=author)
        deleted = Version.objects.first()
        assert (deleted.change, deleted.content) == (Change.DELETED, now)
        now = now | {"status": "draft", "publish_from": None, "publish_until": None}
        now |= {name: then[number][name] for name in ("audience", "brand")}
        shows = False
    else:
        shows = now["status"] == "published"
    wanted = then[number] | {name: now[name] for name in EXCLUDED_FIELDS}
    if shows and not (wanted["head_recruiter"] and wanted["description"]):
        with pytest.raises(ValidationError):
            restore(version, author=author, at=NOW)
        assert read_content(vacancy) == now
        return

    done = restore(version, author=author, at=NOW)

    assert done.plan.missing == []
    assert read_content(done.vacancy) == folded(done.vacancy) == wanted
