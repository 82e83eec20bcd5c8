"""Every response is that of the plain implementation (oracle.py), after every kind of write."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from forms_structure import operations
from tests.contract.sample import make_site
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.initial_rows import InitialRows
from tests.vacancies.api.site import (
    LISTS,
    ON_POSTGRESQL,
    V1_LISTS,
    Site,
    bucket_counts,
    differences,
    published_counts,
)
from vacancies.api import lists
from vacancies.models import (
    Attachment,
    Brand,
    BucketCount,
    FilterOption,
    ListedVacancy,
    Recruiter,
    RenderedItem,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

SLOW = pytest.mark.slow("compares every page with the plain implementation")


def addresses() -> list[str]:
    queries = ("", "?page[size]=1", "?page[size]=3&page[number]=2", "?page[number]=99")
    return [
        *(path + query for path in LISTS for query in queries),
        *(f"/v1/vacancies/{vacancy.pk}" for vacancy in Vacancy.objects.order_by("pk")),
    ]


def check_all(site: Site) -> None:
    assert differences(site, addresses()) == {}


@SLOW
@pytest.mark.each_database
def test_every_page_and_vacancy(site):
    make_site()
    for _ in range(2):  # rendered, then stored
        check_all(site)
    stored = RenderedItem.objects.filter(version__startswith="v1/").values_list(
        "vacancy", flat=True
    )
    live = ListedVacancy.objects.live(at=timezone.now()).values_list("pk", flat=True)
    assert set(stored) == set(live)
    assert bool(stored) == ON_POSTGRESQL


@SLOW
def test_apply_header_follows_every_change(site):
    def field(**values):
        return {
            "name": "mail",
            "type": "email",
            "label": "Mail",
            "required": True,
            "css": "col-12",
        } | values

    def structure(**values):
        return [{"title": "", "description": "", "fields": [field(**values)]}]

    form = operations.create(name="With", structure=structure(role="email"))
    base = operations.create(name="Base", structure=structure())
    extension = [{"title": "", "description": "", "fields": [field(name="b", role="email")]}]
    vacancies = [
        make_vacancy(form=form),
        make_vacancy(form=form, apply_url="https://apply.acme.test"),
        make_vacancy(form=base),
        make_vacancy(form=operations.create(name="More", structure=extension, extends=base)),
        make_vacancy(form=form, audience="internal"),
        make_vacancy(),
    ]

    def applying() -> list[bool]:
        """Return which forms have the header. Form and schema state the same version."""
        shown = []
        for pk in [vacancy.pk for vacancy in vacancies]:
            _, headers, _ = site.ask(f"/v1/vacancies/{pk}/form")
            _, of_schema, _ = site.ask(f"/v1/vacancies/{pk}/form/schema")
            assert headers["Form-Version"] == of_schema["Form-Version"]
            shown.append(
                f"http://testserver/v1/vacancies/{pk}/applications" == headers.get("Apply")
            )
            assert shown[-1] or "Apply" not in headers
        return shown

    assert applying() == [True, False, False, True, True, False]
    Vacancy.objects.filter(pk=vacancies[0].pk).update(apply_url="https://apply.acme.test/0")
    assert applying() == [False, False, False, True, True, False]
    Vacancy.objects.update(apply_url="")
    assert applying() == [True, True, False, True, True, False]
    operations.save(form, operations.FormEdit(structure()))
    assert applying() == [False, False, False, True, False, False]
    operations.save(form, operations.FormEdit(structure(role="email", required=False)))
    operations.make_default(form=form)
    assert applying() == [False, False, False, True, False, False]
    operations.save(form, operations.FormEdit(structure(role="email")))
    assert applying() == [True, True, False, True, True, True]


QUERIES = (
    "fields=id,title",
    "fields=brand,regions,head_recruiter,image",
    "sort=title",
    "sort=-title",
    "sort=published_at&page[size]=2&page[number]=3",
    "sort=published_at&page[size]=2&page[number]=99",
    "sort=-published_at&page[size]=2",
    "filter[regions]=nowhere",
    "filter[regions]=antwerp",
    "filter[search]=welder",
    "filter[search]=nobody",
    "filter[types]=graduate,experienced&sort=title&fields=slug",
    "utm_source=x",
    "filter[regions]=antwerp&filter[regions]=ghent",
    "filter%5Bregions%5D%5B%5D=antwerp&filter[regions]=ghent,mons",
    "fields=id&fields=title",
    "fields[]=slug&fields[]=id,title&page[size]=2",
    "filter[brand]=harbour-works,nobody",
    "filter[country]=NL,BE&sort=closes_at",
    "filter[country]=be",
    "filter[work_place]=remote,nowhere&sort=-closes_at",
    "filter[employment_types][]=FULL_TIME",
    "filter[language]=nl",
    "filter[language]=en,fr",
    "filter[near]=51.2,4.2,20",
    "filter[near]=51.2,4.2,10",
    "filter[near]=51.2,4.2,20&filter[country]=NL&filter[language]=nl&fields=id&page[size]=1&page[number]=2",
)


@SLOW
@pytest.mark.each_database
def test_filtered_and_sorted_lists(site):
    make_site()
    paths = [f"{path}?{query}" for path in V1_LISTS for query in QUERIES]
    for _ in range(2):  # rendered, then stored
        assert differences(site, paths) == {}


def test_empty_sort_is_refused_after_the_whole_list(site):
    make_site()
    assert site.ask("/v1/vacancies")[0] == "200 OK"
    assert site.ask("/v1/vacancies?sort=")[0] == "400 Bad Request"


def test_equivalent_queries_share_body_etag_and_id_list(site):
    make_site()
    comma = "filter[regions]=antwerp,ghent&filter[types]=experienced&fields=id,title"
    others = (
        "filter[regions]=antwerp&filter[regions]=ghent&filter[types][]=experienced&fields=id&fields=title",
        "fields[]=id&fields%5B%5D=title&filter[types]=experienced&filter[regions][]=antwerp,ghent",
    )
    for path in V1_LISTS:
        _, headers, body = site.ask(f"{path}?{comma}")
        before = len(site.process.id_lists)
        for other in others:
            assert site.ask(f"{path}?{other}")[1:] == (headers, body)
        assert len(site.process.id_lists) == before


def test_protected_vacancies_are_hidden(site, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    internal = make_vacancy(audience="internal")
    both = make_vacancy(audience="both")
    for path in (
        "/v0.1/vacancies/internal",
        "/v1/vacancies/internal",
        "/v1/vacancies/hot/internal",
    ):
        assert site.ask(path)[0] == "401 Unauthorized"
    for end in ("", "/form", "/form/schema"):
        assert site.ask(f"/v1/vacancies/{internal.pk}{end}")[0] == "404 Not Found"
        assert site.ask(f"/v1/vacancies/{both.pk}{end}")[0] == "200 OK"
    site.same("/v1/vacancies")


CHANGES: dict[str, Callable[[], Any]] = {
    "one is created": lambda: make_vacancy(title="Cook", options={"regions": ["Ghent"]}),
    "one is saved": lambda: Vacancy.objects.first().save(),
    "all are renamed in bulk": lambda: Vacancy.objects.update(title="Baker"),
    "all are hot": lambda: Vacancy.objects.update(is_hot=True),
    "all are internal": lambda: Vacancy.objects.update(audience="internal"),
    "all are published on one day": lambda: Vacancy.objects.update(
        publish_from=timezone.now() - timedelta(days=3)
    ),
    "all expire": lambda: Vacancy.objects.update(publish_until=timezone.now()),
    "all are scheduled": lambda: Vacancy.objects.update(
        publish_from=timezone.now() + timedelta(1), publish_until=None
    ),
    "some are unpublished": lambda: Vacancy.objects.filter(is_hot=True).update(
        status="unpublished"
    ),
    "all are unpublished and some are published again": lambda: (
        Vacancy.objects.filter(status="published").update(status="unpublished"),
        Vacancy.objects.filter(
            status="unpublished", is_hot=False, publish_from__isnull=False
        ).update(status="published"),
    ),
    "some are deleted": lambda: Vacancy.objects.filter(is_hot=True).delete(),
    "all are deleted": lambda: Vacancy.objects.all().delete(),
    "the options are renamed": lambda: (
        FilterOption.objects.update(value="x")
        if FilterOption.objects.count() == 1
        else [
            FilterOption.objects.filter(pk=option.pk).update(label=f"No. {option.pk}")
            for option in FilterOption.objects.all()
        ]
    ),
    "the options are removed": lambda: VacancyOption.objects.all().delete(),
    "the options are reordered": lambda: [
        VacancyOption.objects.filter(pk=choice.pk).update(position=100 - choice.position)
        for choice in VacancyOption.objects.all()
    ],
    "the brands are renamed": lambda: [
        Brand.objects.filter(pk=brand.pk).update(name=f'"{brand.pk}"')
        for brand in Brand.objects.all()
    ],
    "brands change": lambda: Vacancy.objects.update(brand=make_brand("Another")),
    "the recruiters are renamed": lambda: Recruiter.objects.update(
        name="Somebody", is_email_public=False
    ),
    "a recruiter is linked": lambda: VacancyRecruiter.objects.create(
        vacancy=Vacancy.objects.first(), recruiter=make_recruiter("Eva")
    ),
    "the recruiters are unlinked": lambda: VacancyRecruiter.objects.all().delete(),
    "a file is attached": lambda: Attachment.objects.create(
        vacancy=Vacancy.objects.first(), name="A", url="https://files.example.com/a.pdf"
    ),
    "the files are deleted": lambda: Attachment.objects.all().delete(),
}


@SLOW
@pytest.mark.each_database
def test_every_change_shows_in_the_next_response(site):
    """Each change is followed by other paths, so that every path follows some changes."""
    make_site()
    check_all(site)
    rows, paths = InitialRows(connection), addresses()
    found: dict[str, Any] = {}
    for number, (name, change) in enumerate(CHANGES.items()):
        rows.restore()
        process = Site()
        asked = paths[number % 9 :: 9]
        before = differences(process, asked)
        change()
        after = differences(process, asked)
        if before or after or bucket_counts() != published_counts():
            found[name] = (before, after, bucket_counts(), published_counts())
    rows.close()
    assert found == {}


def test_text_that_looks_like_a_placeholder_is_not_replaced(site):
    title = 'A "\\u0000option:1\\u0000" \x01,"title":"x" \\'
    if connection.vendor == "sqlite":
        title += "\0option:1\0"
    vacancy = make_vacancy(title=title)
    site.same(f"/v1/vacancies/{vacancy.pk}")
    site.same("/v1/vacancies?fields=title,slug")


def test_urls_have_the_host_of_the_request(site, settings):
    settings.ALLOWED_HOSTS = ["*"]
    vacancy = make_vacancy()
    Vacancy.objects.update(image="vacancies/a b.png")
    Brand.objects.update(icon_small="brands/x.png")
    for host in ("one.example.com", "two.example.com:8443"):
        for end in ("", f"/{vacancy.pk}"):
            site.same(f"/v1/vacancies{end}", HTTP_HOST=host)
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    assert site.same("/v1/vacancies")["data"][0]["image"].startswith(
        "https://jobs.example.com/media/"
    )


@SLOW
def test_items_follow_the_multi_branding_setting(site, settings):
    make_site()
    for settings.MULTI_BRANDING in (True, False, True):
        check_all(site)


@pytest.mark.slow("requests many pages")
def test_different_bodies_have_different_etags(site):
    make_site()
    tags: dict[str, bytes] = {}
    pk = Vacancy.objects.published().external().first().pk
    for _ in range(2):
        for path in (
            *LISTS,
            "/v1/vacancies?page[size]=3",
            "/v1/vacancies?fields=id",
            f"/v1/vacancies/{pk}",
            "/v1/vacancies?fields=title",
            f"/v1/vacancies/{pk}/form",
        ):
            _, headers, body = site.ask(path)
            assert tags.setdefault(headers["ETag"], body) == body
            status, _, nothing = site.ask(path, HTTP_IF_NONE_MATCH=headers["ETag"])
            assert (status, nothing) == ("304 Not Modified", b"")
        Vacancy.objects.update(title="Another")
        Recruiter.objects.update(name="Else")


@pytest.mark.skipif(not ON_POSTGRESQL, reason="SQLite has no read model")
def test_page_of_stored_items_takes_one_statement(site, django_assert_num_queries, monkeypatch):
    for number in range(6):
        make_vacancy(title=f"Nurse {number}", options={"regions": ["Ghent", "Antwerp"]})
    statements: list[str] = []
    fetch = lists.fetch
    monkeypatch.setattr(lists, "fetch", lambda sql, *p: statements.append(sql) or fetch(sql, *p))
    paths = [f"/v1/vacancies?page[number]={number}&page[size]=2" for number in (1, 2, 3)]
    for path in paths:
        site.ask(path)
    statements.clear()
    with django_assert_num_queries(0):  # no queries of Django's cursors
        for path in paths:
            site.ask(path)
            site.ask(f"{path}&fields=id")
    assert len(statements) == 6  # and one for the revision, by the response cache


@pytest.mark.skipif(not ON_POSTGRESQL, reason="SQLite has no read model")
@SLOW
def test_command_renders_missing_items(site, settings, capsys):
    make_site()
    call_command("render_items")
    assert "Rendered 24 items." in capsys.readouterr().out
    call_command("render_items")
    assert "Rendered 0 items." in capsys.readouterr().out
    settings.MULTI_BRANDING = False  # part of the version of items
    call_command("render_items")
    assert "Rendered 24 items." in capsys.readouterr().out
    check_all(site)
    Vacancy.objects.filter(is_hot=True).update(title="Changed")
    call_command("maintain_lists")
    listed = ListedVacancy.objects.filter(vacancy__is_hot=False).values_list("pk", flat=True)
    assert sorted(RenderedItem.objects.values_list("vacancy", flat=True)) == sorted(
        [*listed, *listed]
    )


@SLOW
@pytest.mark.each_database
def test_command_rebuilds_the_read_model_after_loaddata(site, tmp_path):
    make_site()
    check_all(site)
    call_command("dumpdata", "vacancies", "forms_structure", output=tmp_path / "all.json")
    call_command("loaddata", tmp_path / "all.json", verbosity=0)
    BucketCount.objects.update(external=77)
    call_command("render_items", rebuild=True, verbosity=0)
    check_all(site)
    assert bucket_counts() == published_counts()


def test_transaction_shows_its_own_changes(site):
    """They have no revision, so nothing is cached."""
    make_vacancy(title="Nurse")
    site.body("/v1/vacancies")
    with transaction.atomic():
        Vacancy.objects.update(title="Cook")
        assert b"Cook" in Client().get("/v1/vacancies").content
        transaction.set_rollback(True)
    assert b"Nurse" in Client().get("/v1/vacancies").content
    site.same("/v1/vacancies")
