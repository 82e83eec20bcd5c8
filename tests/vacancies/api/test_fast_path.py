"""The fast path returns the same bytes as the views, after every kind of write."""

import json
import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from forms_structure import operations
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from tests.contract.sample import make_site
from tests.factories import make_brand, make_filter, make_recruiter, make_vacancy
from tests.initial_rows import InitialRows
from tests.wsgi import ask
from vacancies.api import fast_path
from vacancies.api.fast_path import PATHS, FastPath
from vacancies.choices import Keyword
from vacancies.models import (
    Attachment,
    Brand,
    BucketCount,
    FilterOption,
    ListedVacancy,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)
from vacancies.readmodel.totals import read_totals

LISTS = tuple(PATHS)
V1_LISTS = tuple(path for path in LISTS if path.startswith("/v1/"))


class Site:
    """A server process with the fast path, and the views on their own."""

    def __init__(self, application: Any) -> None:
        self.django = application
        self.fast_path = FastPath()
        self.fast_responses = 0
        self.cached = ResponseCache(application, read_state, self.counted)

    def counted(self, environ: Any, state: Any) -> Any:
        rendered = self.fast_path(environ, state)
        self.fast_responses += rendered is not None
        return rendered

    def ask(self, application: Any, path: str, **headers: str) -> tuple[str, dict[str, str], bytes]:
        return ask(application, path, **headers)

    def same(self, path: str, is_fast: bool | None = True) -> Any:
        """Check that the process and the views give the same response; return its content."""
        before = self.fast_responses
        status, headers, body = self.ask(self.cached, path)
        assert is_fast is None or (self.fast_responses > before) == is_fast, path
        expected = self.ask(self.django, path)
        headers.setdefault("Content-Length", str(len(body)))
        assert (status, body) == (expected[0], expected[2]), path
        assert headers == expected[1], path
        return json.loads(body)


@pytest.fixture
def site(wsgi, transactional_db):
    from jobsite.wsgi import _bare

    for keyword in Keyword:
        make_filter(keyword)
    return Site(_bare)


def addresses() -> list[str]:
    queries = ("", "?page[size]=1", "?page[size]=3&page[number]=2", "?page[number]=99")
    ends = ("", "/form", "/form/schema")
    return [
        *(path + query for path in LISTS for query in queries),
        *(f"/v1/vacancies/{vacancy.pk}{end}" for vacancy in Vacancy.objects.order_by("pk") for end in ends),
    ]


def differences(site: Site, paths: Iterable[str]) -> dict[str, str]:
    """Return the paths where the fast path does not give the response of the views, or is not used."""
    shown = {vacancy.pk for vacancy in Vacancy.objects.all() if vacancy.state == "published"}
    found = {}
    for path in paths:
        single = re.match(r"/v1/vacancies/(\d+)", path)
        try:
            site.same(path, is_fast=not single or int(single[1]) in shown)
        except AssertionError as error:
            found[path] = str(error)
    return found


def check_all(site: Site) -> None:
    assert differences(site, addresses()) == {}


@pytest.mark.slow("compares every page with the views")
@pytest.mark.each_database
def test_responses_equal_those_of_the_views(site):
    make_site()
    for _ in range(2):  # rendered, then stored
        check_all(site)
    assert set(ListedVacancy.objects.exclude(v1=None)) == set(ListedVacancy.objects.live(at=timezone.now()))


@pytest.mark.slow("compares every page with the views")
def test_apply_header_equals_that_of_the_views_after_every_change(site):
    def field(**values):
        return {"name": "mail", "type": "email", "label": "Mail", "required": True, "css": "col-12"} | values

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
        """Check all forms, in both orders: the headers of the first one are the template of the others."""
        shown = []
        for pk in [vacancy.pk for vacancy in (*vacancies, *vacancies[::-1])]:
            site.same(f"/v1/vacancies/{pk}/form")
            site.same(f"/v1/vacancies/{pk}/form/schema")
            _, headers, _ = site.ask(site.cached, f"/v1/vacancies/{pk}/form")
            shown.append(f"http://testserver/v1/vacancies/{pk}/applications" == headers.get("Apply"))
            assert shown[-1] or "Apply" not in headers
        assert shown == [*shown[:6], *shown[5::-1]]
        return shown[:6]

    assert applying() == [True, False, False, True, True, False]
    Vacancy.objects.filter(pk=vacancies[0].pk).update(apply_url="https://apply.acme.test/0")
    assert applying() == [False, False, False, True, True, False]
    Vacancy.objects.update(apply_url="")
    assert applying() == [True, True, False, True, True, False]
    operations.save(form=form, structure=structure())
    assert applying() == [False, False, False, True, False, False]
    site.cached.header_templates.clear()
    operations.save(form=form, structure=structure(role="email", required=False))
    operations.make_default(form=form)
    assert applying() == [False, False, False, True, False, False]
    operations.save(form=form, structure=structure(role="email"))
    assert applying() == [True, True, False, True, True, True]


QUERIES = (
    "fields=id,title", "fields=brand,regions,head_recruiter,image", "sort=title", "sort=-title",
    "sort=published_at&page[size]=2&page[number]=3", "sort=published_at&page[size]=2&page[number]=99",
    "sort=-published_at&page[size]=2", "filter[regions]=nowhere", "filter[regions]=antwerp",
    "filter[search]=welder", "filter[search]=nobody",
    "filter[types]=graduate,experienced&sort=title&fields=slug", "utm_source=x",
    "filter[regions]=antwerp&filter[regions]=ghent",
    "filter%5Bregions%5D%5B%5D=antwerp&filter[regions]=ghent,mons",
    "fields=id&fields=title", "fields[]=slug&fields[]=id,title&page[size]=2",
)  # fmt: skip


@pytest.mark.slow("compares every page with the views")
@pytest.mark.each_database
def test_filtered_lists_equal_those_of_the_views(site):
    make_site()
    paths = [f"{path}?{query}" for path in V1_LISTS for query in QUERIES]
    for _ in range(2):  # rendered, then stored
        assert differences(site, paths) == {}


def test_equivalent_queries_share_body_etag_and_id_list(site):
    make_site()
    comma = "filter[regions]=antwerp,ghent&filter[types]=experienced&fields=id,title"
    others = (
        "filter[regions]=antwerp&filter[regions]=ghent&filter[types][]=experienced&fields=id&fields=title",
        "fields[]=id&fields%5B%5D=title&filter[types]=experienced&filter[regions][]=antwerp,ghent",
    )
    for path in V1_LISTS:
        _, headers, body = site.ask(site.cached, f"{path}?{comma}")
        id_lists = site.fast_path.cache.id_lists.keys()
        before = len(id_lists)
        for other in others:
            assert site.ask(site.cached, f"{path}?{other}")[1:] == (headers, body)
        assert len(id_lists) == before
    assert site.fast_responses == 3 * len(V1_LISTS)


INVALID = ("page[size]=x", "page[number]=0", "filter[nothing]=x", "sort=no_such_key", "fields=no_such_key",
           "filter[search]=", "page[size]=1&page[size]=2", "sort=title&sort=title", "limit=5", "q=x",
           "filter[regions][]=", "fields=id&fields=no_such_key", "filter[search][]=x")  # fmt: skip


def test_invalid_request_falls_through_to_the_views(site):
    make_vacancy()
    for query in INVALID:
        site.same(f"/v1/vacancies?{query}", is_fast=False)


def test_protected_vacancies_fall_through_to_the_views(site, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    internal = make_vacancy(audience="internal")
    both = make_vacancy(audience="both")
    site.same("/v0.1/vacancies/internal", is_fast=False)
    site.same("/v1/vacancies/internal", is_fast=False)
    site.same("/v1/vacancies/hot/internal", is_fast=False)
    for end in ("", "/form", "/form/schema"):
        site.same(f"/v1/vacancies/{internal.pk}{end}", is_fast=False)
        site.same(f"/v1/vacancies/{both.pk}{end}")
    assert [item["id"] for item in site.same("/v1/vacancies")["data"]] == [both.pk]


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
    "some are unpublished": lambda: Vacancy.objects.filter(is_hot=True).update(status="unpublished"),
    "all are unpublished and some are published again": lambda: (
        Vacancy.objects.filter(status="published").update(status="unpublished"),
        Vacancy.objects.filter(status="unpublished", is_hot=False, publish_from__isnull=False).update(
            status="published"
        ),
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
        Brand.objects.filter(pk=brand.pk).update(name=f'"{brand.pk}"') for brand in Brand.objects.all()
    ],
    "brands change": lambda: Vacancy.objects.update(brand=make_brand("Another")),
    "the recruiters are renamed": lambda: Recruiter.objects.update(name="Somebody", is_email_public=False),
    "a recruiter is linked": lambda: VacancyRecruiter.objects.create(
        vacancy=Vacancy.objects.first(), recruiter=make_recruiter("Eva")
    ),
    "the recruiters are unlinked": lambda: VacancyRecruiter.objects.all().delete(),
    "a file is attached": lambda: Attachment.objects.create(
        vacancy=Vacancy.objects.first(), name="A", url="https://files.example.com/a.pdf"
    ),
    "the files are deleted": lambda: Attachment.objects.all().delete(),
    "a form is changed": lambda: operations.create(name="Another", language="en", structure=[]),
}


@pytest.mark.slow("compares every page with the views")
@pytest.mark.each_database
def test_every_change_shows_in_the_next_response(site):
    """Each change is followed by other paths, so that every path follows some changes."""
    make_site()
    check_all(site)
    rows, paths = InitialRows(connection), addresses()
    found: dict[str, Any] = {}
    for number, (name, change) in enumerate(CHANGES.items()):
        rows.restore()
        process = Site(site.django)
        asked = paths[number % 9 :: 9]
        before = differences(process, asked)
        change()
        after = differences(process, asked)
        if before or after or bucket_counts() != published_counts():
            found[name] = (before, after, bucket_counts(), published_counts())
    rows.close()
    assert found == {}


def bucket_counts() -> list[int]:
    """The sizes of the lists according to BucketCount."""
    return list(read_totals(read_state(), now=timezone.now()).totals.values())


def published_counts() -> list[int]:
    """The sizes of the lists according to the querysets."""
    published = Vacancy.objects.published(at=timezone.now())
    external, internal = published.external(), published.internal()
    return [each.count() for each in (external, external.hot(), internal, internal.hot())]


def test_clock_steps_backward_and_forward(site, time_machine):
    """What is cached at one time is not served at an earlier one. A clock that was ahead has no effect."""
    now = timezone.now()
    make_vacancy(publish_from=now - timedelta(minutes=5))
    for minutes, total in ((0, 1), (-10, 0), (0, 1), (60 * 24 * 400, 1), (0, 1), (-1, 1), (-6, 0)):
        time_machine.move_to(now + timedelta(minutes=minutes), tick=False)
        assert site.same("/v1/vacancies", is_fast=None)["meta"]["total"] == total
    assert site.fast_responses == 7


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
        for end in ("", f"/{vacancy.pk}", f"/{vacancy.pk}/form/schema"):
            got = site.ask(site.cached, f"/v1/vacancies{end}", HTTP_HOST=host)
            assert got[2] == site.ask(site.django, f"/v1/vacancies{end}", HTTP_HOST=host)[2]
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    assert site.same("/v1/vacancies")["data"][0]["image"].startswith("https://jobs.example.com/media/")


@pytest.mark.slow("compares every page with the views")
def test_items_follow_the_multi_branding_setting(site, settings):
    make_site()
    for settings.MULTI_BRANDING in (True, False, True):
        check_all(site)


def test_different_bodies_have_different_etags(site):
    make_site()
    tags: dict[str, bytes] = {}
    pk = Vacancy.objects.published().external().first().pk
    for _ in range(2):
        for path in (*LISTS, "/v1/vacancies?page[size]=3", "/v1/vacancies?fields=id", f"/v1/vacancies/{pk}",
                     "/v1/vacancies?fields=title", f"/v1/vacancies/{pk}/form"):  # fmt: skip
            _, headers, body = site.ask(site.cached, path)
            assert tags.setdefault(headers["ETag"], body) == body
            status, _, nothing = site.ask(site.cached, path, HTTP_IF_NONE_MATCH=headers["ETag"])
            assert (status, nothing) == ("304 Not Modified", b"")
        Vacancy.objects.update(title="Another")
        Recruiter.objects.update(name="Else")


@pytest.mark.slow("compares every page with the views")
@pytest.mark.each_database
def test_page_takes_two_statements(site, django_assert_num_queries, monkeypatch):
    for number in range(6):
        make_vacancy(title=f"Nurse {number}", options={"regions": ["Ghent", "Antwerp"]})
    statements: list[str] = []
    fetch = fast_path.fetch
    monkeypatch.setattr(
        fast_path, "fetch", lambda sql, *p, **k: statements.append(sql) or fetch(sql, *p, **k)
    )
    for number in (1, 2, 3):
        site.ask(site.cached, f"/v1/vacancies?page[number]={number}&page[size]=2")
    statements.clear()
    with django_assert_num_queries(0):  # no queries of Django's cursors
        for number in (1, 2, 3):
            site.ask(site.cached, f"/v1/vacancies?page[number]={number}&page[size]=2")
            site.ask(site.cached, f"/v1/vacancies?page[number]={number}&page[size]=2&fields=id")
    assert len(statements) == 6  # and one for the revision, by the response cache


@pytest.mark.slow("compares every page with the views")
@pytest.mark.each_database
def test_command_renders_missing_items(site, settings, capsys):
    make_site()
    call_command("render_items")
    assert "Rendered 24 items." in capsys.readouterr().out
    assert not ListedVacancy.objects.filter(v1=None, is_expired=False).exists()
    call_command("render_items")
    assert "Rendered 0 items." in capsys.readouterr().out
    settings.MULTI_BRANDING = False  # a setting of the fingerprint
    call_command("render_items")
    assert "Rendered 24 items." in capsys.readouterr().out
    check_all(site)


@pytest.mark.slow("compares every page with the views")
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
