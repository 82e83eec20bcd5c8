"""lint_vacancies and audit_visibility, and wrong arguments of commands."""

import json
import re
from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Q
from rest_framework.response import Response

from applications.models import Token
from forms_structure import operations
from jobsite.management.commands.audit_visibility import Command
from jobsite.site import audit, feeds, jsonld, sitemaps
from tests.factories import make_brand, make_insider, make_option, make_recruiter, make_vacancy
from tests.vacancies.commands import run
from vacancies.api.v1.vacancies import RenderedForm, SingleVacancyViewSet
from vacancies.models import ListedVacancy, Recruiter, Requisition, Vacancy
from vacancies.quality.findings import RULES
from vacancies.querysets import VacancyList, VacancyQuerySet

pytestmark = pytest.mark.django_db


def track(method, paths):
    """Return `method`, which appends the path of each call to `paths`."""

    def call(self, path, *args):
        paths.append(path)
        return method(self, path, *args)

    return call


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *((("generate_vacancies", "--", count), "") for count in ("0", "-1", "10000001")),
        (
            ("lint_vacancies", "--rule", "no-imag"),
            "Unknown rule 'no-imag'; the rules are unclean, ",
        ),
        (("lint_vacancies", "--limit", "-1"), "--limit must be 0 or more; received -1."),
        *(
            (("issue_token", *words), "")
            for words in (("nobody",), ("gone",), ("eve", "--days", "0"), ("eve", "--days", "3651"))
        ),
        (("audit_visibility", "--at", "soon"), ""),
        (("audit_visibility", "--sample", "0"), "--sample must be 1 or more; received 0."),
    ],
)
def test_wrong_arguments_are_usage_errors(words, message):
    User.objects.create_user("eve")
    User.objects.create_user("gone", is_active=False)
    make_vacancy()
    with pytest.raises(CommandError) as refused:
        call_command(*words)
    assert (refused.value.returncode, str(refused.value)[: len(message)]) == (2, message)


# --- lint_vacancies ---


GOOD = {
    "options": {"regions": ["Ghent"]},
    "image_url": "https://example.org/a.jpg",
    "contact": "<p>Ask Jan.</p>",
    "apply_url": "https://apply.example.org",
    "places": ({"locality": "Ghent", "country": "BE"},),
}


@pytest.fixture
def employment_types():
    make_option("regions", "Ghent", employment_type="FULL_TIME")


def test_lint_reports_errors_and_warnings(at, employment_types):
    make_vacancy(**GOOD)
    assert run("lint_vacancies") == (0, "0 errors and 0 warnings.", [])
    Vacancy.objects.all().delete()
    make_vacancy(pk=1, title="NO IMAGE", **GOOD | {"image_url": ""})
    make_vacancy(pk=2, title="Hot", is_hot=True, publish_until=at + timedelta(days=1), **GOOD)
    make_vacancy(pk=3, title="Hot once", is_hot=True, publish_until=at, **GOOD)
    make_vacancy(pk=4, title="Empty", description="", **GOOD)
    make_vacancy(pk=5, title="東京", description="<p>a&amp;nbsp;b</p>", **GOOD)
    make_vacancy(
        pk=6,
        title="Ever",
        is_permanent=True,
        publish_until=at + timedelta(days=99),
        **GOOD | {"options": {}},
    )
    make_vacancy(pk=7, title="Draft", status="draft", description="")
    make_vacancy(
        pk=8, title="Silent", title_internal="Silent (Vertrouwelijk)", **GOOD | {"contact": ""}
    )
    values = GOOD | {
        "contact": "",
        "title_internal": "Internist",
        "head_recruiter": make_recruiter("Jan"),
    }
    make_vacancy(pk=9, title="Asked", **values)
    Recruiter.objects.filter(headed_vacancies=9).update(email="jan@acme.test", is_email_public=True)
    Vacancy.objects.filter(pk=1).update(brand=None)

    code, summary, lines = run("lint_vacancies")

    assert {line.rpartition("[")[2][:-1] for line in lines} <= set(RULES)
    assert (code, summary) == (1, "2 errors and 10 warnings.")
    assert lines == [
        "error: vacancy 1 'NO IMAGE': A vacancy needs a brand to be published. [no-brand]",
        "warning: vacancy 1 'NO IMAGE': has no image [no-image]",
        "warning: vacancy 1 'NO IMAGE': the title is in capitals [capitals]",
        "warning: vacancy 2 'Hot': is featured, but closes within a week [hot-ending]",
        "warning: vacancy 3 'Hot once': hot, but expired [hot-expired]",
        "error: vacancy 4 'Empty': has no description [no-description]",
        "warning: vacancy 5 '東京': the title has no letter that can be part of the slug [no-slug]",
        "warning: vacancy 5 '東京': description shows markup as text, because it was escaped twice "
        "[double-escaped]",
        "warning: vacancy 6 'Ever': is continuously open, but has a closing date [permanent-ends]",
        "warning: vacancy 6 'Ever': has no options, so no filter finds it [no-options]",
        "warning: vacancy 8 'Silent': has no contact text, and the lead recruiter has no public "
        "contact details [unreachable]",
        "warning: vacancy 8 'Silent': the internal title is public and contains internal wording "
        "[internal-words]",
        "total: 1 error [no-brand]",
        "total: 1 error [no-description]",
        *(
            f"total: 1 warning [{rule}]"
            for rule in (
                "capitals",
                "double-escaped",
                "hot-ending",
                "hot-expired",
                "internal-words",
                "no-image",
                "no-options",
                "no-slug",
                "permanent-ends",
                "unreachable",
            )
        ),
    ]


def test_lint_reports_forms_that_cannot_accept_applications():
    def form(name, field, **values):
        structure = [{"title": "", "description": "", "fields": [field]}]
        return operations.create(name=name, structure=structure, **values)

    mail = {"name": "mail", "type": "email", "label": "Mail", "required": True, "css": "col-12"}
    good = form("Good", mail | {"role": "email"})
    bad = form("Bad", mail)
    make_vacancy(pk=1, title="None", **GOOD | {"apply_url": ""})
    make_vacancy(pk=2, title="Elsewhere", form=bad, **GOOD)
    make_vacancy(pk=3, title="Bad", form=bad, **GOOD | {"apply_url": ""})
    make_vacancy(pk=4, title="Good", form=good, **GOOD | {"apply_url": ""})
    make_vacancy(pk=5, title="Draft", form=bad, status="draft", **GOOD | {"apply_url": ""})
    more = form("More", mail | {"name": "other"}, extends=good)
    make_vacancy(pk=6, title="Base", form=more, **GOOD | {"apply_url": ""})
    brand = make_brand("Branded", form=bad)
    make_vacancy(pk=7, title="Brand", brand=brand, **GOOD | {"apply_url": ""})

    def reported():
        found = run("lint_vacancies", "--rule", "no-applications")
        assert found[0] == 0
        return found[2]

    text = "nobody can apply, because the form does not ask for the applicant’s e-mail address"
    assert reported() == [
        f"warning: vacancy 1 'None': {text} [no-applications]",
        f"warning: vacancy 3 'Bad': {text} [no-applications]",
        f"warning: vacancy 7 'Brand': {text} [no-applications]",
        "total: 3 warnings [no-applications]",
    ]
    operations.make_default(form=good)
    operations.save(bad, operations.FormEdit(good.structure))
    assert reported() == []


def test_lint_limits_the_findings_of_each_rule(employment_types):
    for pk in range(1, 23):
        make_vacancy(pk=pk, title="Cook", **GOOD | {"image_url": ""})
    make_vacancy(pk=23, title="EMPTY", description="", **GOOD)

    code, summary, lines = run("lint_vacancies")

    assert (code, summary) == (1, "1 errors and 23 warnings.")
    assert lines == [
        *(f"warning: vacancy {pk} 'Cook': has no image [no-image]" for pk in range(1, 21)),
        "error: vacancy 23 'EMPTY': has no description [no-description]",
        "warning: vacancy 23 'EMPTY': the title is in capitals [capitals]",
        "2 more; --limit N lists N of each rule.",
        "total: 1 error [no-description]",
        "total: 22 warnings [no-image]",
        "total: 1 warning [capitals]",
    ]
    limited = run("lint_vacancies", "--rule", "no-image", "--rule", "hot-ending", "--limit", 1)
    more = "21 more; --limit N lists N of each rule."
    assert limited == (
        0,
        "0 errors and 22 warnings.",
        [lines[0], more, "total: 22 warnings [no-image]"],
    )

    whole, limited = (
        json.loads(run("lint_vacancies", "--format", "json", *words)[1])
        for words in ((), ("--limit", 0))
    )
    assert len(whole["findings"]) == 24
    assert (limited["findings"], limited["totals"]) == ([], whole["totals"])
    totals = [
        ("no-description", "error", 1),
        ("no-image", "warning", 22),
        ("capitals", "warning", 1),
    ]
    assert [tuple(each.values()) for each in whole["totals"]] == totals


def test_lint_fixes_markup_that_was_written_by_sql(at, employment_types):
    vacancy = make_vacancy(**GOOD, updated_at=at)
    hidden = make_vacancy(status="draft")
    with connection.cursor() as cursor:
        for table in ("vacancies_vacancy", "vacancies_brand"):
            cursor.execute(f"UPDATE {table} SET description = '<p>x</p><script>1</script>'")
        cursor.execute("UPDATE vacancies_brand SET slug = ''")  # as the release before inserts it

    code, _, lines = run("lint_vacancies")
    text = "not stored as it would be saved now: description"
    assert (code, lines) == (
        1,
        [
            (
                f"error: brand {vacancy.brand_id} 'Acme': {text.replace('desc', 'slug, desc')} "
                "[unclean]"
            ),
            f"error: vacancy {vacancy.pk} {vacancy.title!r}: {text}, search_text [unclean]",
            f"warning: vacancy {hidden.pk} {hidden.title!r}: {text}, search_text [unclean]",
            "total: 2 errors [unclean]",
            "total: 1 warning [unclean]",
        ],
    )
    assert run("lint_vacancies", "--fix", "--dry-run")[1].startswith("Would clean 3 rows. ")
    assert run("lint_vacancies")[2] == lines
    assert run("lint_vacancies", "--fix") == (0, "Cleaned 3 rows. 0 errors and 0 warnings.", [])
    vacancy.refresh_from_db()
    vacancy.brand.refresh_from_db()
    assert vacancy.brand.slug == "acme"
    assert vacancy.description == vacancy.brand.description == "<p>x</p>"


# --- issue_token ---


def test_issued_token_authenticates_its_user(client, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    make_insider("eve")

    code, token, lines = run("issue_token", "eve", "--days", 1)

    assert (code, lines) == (0, [])
    answer = client.get("/v0.1/vacancies/internal", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert token not in str(list(Token.objects.values()))


# --- audit_visibility ---


@pytest.fixture
def every_kind(at, filters):
    kinds = (
        {},
        {"is_hot": True},
        {"status": "draft"},
        {"status": "unpublished"},
        {"publish_from": at + timedelta(days=1)},
        {"publish_until": at},
    )
    for audience, values in product(("public", "internal", "both"), kinds):
        make_vacancy(audience=audience, options={"regions": ["Ghent"]}, **values)


@pytest.mark.slow("audits every endpoint")
def test_audit_finds_no_differences(every_kind, settings):
    for mode in ("public", "authenticated", "network"):
        settings.INTERNAL_ACCESS = mode
        summary = "18 vacancies at 2026-03-02 09:30:15, 6 of them published: no disagreements."
        assert run("audit_visibility") == (0, summary, [])
    for moment, published in (("2026-03-02T09:30:14", 9), ("2026-03-04", 9), ("2020-01-01", 0)):
        code, summary, _ = run("audit_visibility", "--at", moment)
        found = (code, f"{published} of them published: no disagreements." in summary)
        assert found == (0, True), moment


@pytest.mark.slow("audits pages twice")
def test_sample_of_an_audit_has_what_changed_last(at, settings, monkeypatch):
    settings.CAREER_SITE = True
    for day in range(1, 13):
        make_vacancy(publish_from=at - timedelta(days=100 + day))
    make_vacancy()
    changed = make_vacancy(publish_from=at - timedelta(days=300))
    Vacancy.objects.exclude(pk=changed.pk).update(updated_at=at - timedelta(days=9))
    asked = []
    monkeypatch.setattr(Command, "_get", track(Command._get, asked))
    monkeypatch.setattr(Command, "_page", track(Command._page, asked))

    def pages():
        found = {
            int(pk) for path in asked for pk in re.findall(r"^/(?:v1/vacancies|jobs)/(\d+)", path)
        }
        asked.clear()
        return found

    code, summary, lines = run("audit_visibility", "--sample", "4")
    asked_for = pages()
    assert (code, lines, len(asked_for), changed.pk in asked_for) == (0, [], 4, True)
    assert summary == (
        "A sample of 4 of 14 vacancies at 2026-03-02 09:30:15, 14 of them published: no "
        "disagreements."
    )


@pytest.fixture
def career_site(settings, at):
    """Vacancies with and without what feeds and search engines need, on two hosts and elsewhere."""
    settings.CAREER_SITE = True
    ghent, belgium = {"locality": "Ghent", "country": "BE"}, {"kind": "applicant", "country": "BE"}
    soon, past, day = at + timedelta(minutes=1), at - timedelta(minutes=1), at - timedelta(days=1)
    for values in (
        {"places": (ghent, ghent)},
        {},
        {"places": (belgium,)},
        {"places": (ghent,), "description": ""},
        {"work_place": "remote", "places": (ghent,)},
        {"work_place": "remote", "places": (belgium,)},
        {"places": (ghent,), "brand": make_brand("Host", host="jobs.host.test")},
        {"places": (ghent,), "brand": make_brand("Elsewhere", vacancy_url="https://acme.test/")},
        {"places": (ghent,), "publish_until": soon},
        {"places": (ghent,), "publish_from": soon},
        {"places": (ghent,), "publish_from": day, "publish_until": past},
        {"status": "archived"},
        {"places": (ghent,), "audience": "internal"},
        {"status": "unpublished", "publish_from": None},
    ):
        make_vacancy(**values)
    Requisition.objects.create(vacancy=make_vacancy(places=(ghent,)), is_for_open_applications=True)


@pytest.mark.slow("audits every page at five times")
def test_audit_finds_no_differences_in_the_career_site(career_site):
    for moment in ("09:29:14", "09:29:15", "09:30:15", "09:31:14", "09:31:15"):
        code, summary, lines = run("audit_visibility", "--at", f"2026-03-02T{moment}")
        assert (code, lines) == (0, []), summary


@pytest.mark.slow("audits every page")
def test_audit_detects_a_career_site_with_wrong_rules(career_site, monkeypatch):
    monkeypatch.setattr(sitemaps, "pages", lambda site, at: Vacancy.objects.published(at=at))
    monkeypatch.setattr(VacancyQuerySet, "closed", lambda self, at: self.filter(status="archived"))
    monkeypatch.setattr(jsonld, "missing_for_google", lambda vacancy: [])
    monkeypatch.setattr(feeds, "IS_A_JOB", Q())
    monkeypatch.setattr(audit, "matching", lambda queries, since, at: ({("", None): []}, {}))

    code, _, lines = run("audit_visibility")

    assert code == 1
    found = {line.removeprefix("career site: ").partition(": ")[0] for line in lines}
    assert found == {
        "pages with status 404",
        "pages with status 410",
        "JSON-LD",
        "/feeds/indeed.xml",
        "/sitemap.xml",
        "jobs.host.test/sitemap.xml",
        "job alerts",
    }


@pytest.mark.slow("many cases")
def test_audit_detects_a_list_with_a_wrong_rule(every_kind, monkeypatch):
    in_list = VacancyQuerySet.in_list
    monkeypatch.setattr(
        VacancyQuerySet,
        "in_list",
        lambda self, which: self if which is VacancyList.EXTERNAL else in_list(self, which),
    )

    code, _, lines = run("audit_visibility")

    internal = sorted(
        Vacancy.objects.published().filter(audience="internal").values_list("pk", flat=True)
    )
    assert code == 1
    paths = [f"outsider: /v1/vacancies/{{id}}{end}" for end in ("", "/form", "/form/schema")]
    assert {f"{path}: shows {internal}" for path in ("insider: /v1/vacancies", *paths)} <= set(
        lines
    )


@pytest.mark.slow("many cases")
def test_audit_detects_a_form_with_a_wrong_rule(every_kind, monkeypatch):
    def any_form(view, pk):
        view.vacancy = Vacancy.objects.get(pk=pk)
        return RenderedForm(None, [], "", "en")

    monkeypatch.setattr(SingleVacancyViewSet, "cached_form", any_form)
    monkeypatch.setattr(
        SingleVacancyViewSet, "form_schema", lambda *args, **kwargs: Response(status=404)
    )

    code, _, lines = run("audit_visibility")

    published = set(Vacancy.objects.published().values_list("pk", flat=True))
    hidden = sorted(set(Vacancy.objects.values_list("pk", flat=True)) - published)
    internal = sorted(
        Vacancy.objects.published().filter(audience="internal").values_list("pk", flat=True)
    )
    assert (code, lines) == (
        1,
        [
            f"insider: /v1/vacancies/{{id}}/form: shows {hidden}",
            f"insider: /v1/vacancies/{{id}}/form/schema: does not show {sorted(published)}",
            f"outsider: /v1/vacancies/{{id}}/form: shows {internal}",
        ],
    )


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no read model")
@pytest.mark.django_db(transaction=True)
def test_audit_reads_rendered_items_and_detects_a_wrong_one(filters):
    """Outside of a transaction stored items answer, as they do for the public."""
    internal = make_vacancy(audience="internal")
    make_vacancy()
    for words in ((), ("--at", "2200-01-01")):
        assert run("audit_visibility", *words)[0::2] == (0, [])

    ListedVacancy.objects.filter(pk=internal.pk).update(audience="public")
    code, _, lines = run("audit_visibility")

    assert code == 1
    assert f"outsider: /v1/vacancies/{{id}}: shows {[internal.pk]}" in lines
    assert not [line for line in lines if "/form" in line]  # read from the vacancy itself
    ListedVacancy.objects.filter(pk=internal.pk).update(audience="internal")
    assert run("audit_visibility")[0] == 0
