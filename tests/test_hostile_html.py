"""Texts are sanitised on every way into the database, and served as stored.

The payloads and the strict parser are in tests/hostile_html.py. tests/browser/test_hostile_html.py loads
the payloads in a browser.
"""

import json
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from forms_structure import operations
from forms_structure.models import Form, Snapshot
from jobsite.text.html import sanitise
from tests.admin_pages import NO_ROWS
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.forms_structure.strategies import section, text_field
from tests.hostile_html import PAYLOADS, faults
from tests.vacancies.admin.forms import opened
from vacancies.fields import html_fields
from vacancies.models import Brand, Vacancy

pytestmark = [pytest.mark.slow("stores many payloads in every text"), pytest.mark.django_db]

TEXTS = html_fields(Vacancy)
NAMES = list(PAYLOADS)
# Every payload is sanitised and created once. The other ways to write show only that they sanitise too.
SOME = NAMES[::8]
# JSON forms, imports and pages refuse a NUL character; they get the other payloads.
WITHOUT_NUL = [name for name in SOME if "\0" not in PAYLOADS[name]]
VACANCIES = "/admin/vacancies/vacancy/"


def dirty(name: str) -> dict[str, str]:
    return dict.fromkeys(TEXTS, PAYLOADS[name])


def wrong(texts: dict[str, str]) -> dict[str, Any]:
    """Return the forbidden markup in `texts`, by payload name."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        if why := faults(text):
            found[name] = why
        elif str(sanitise(str(text))) != text:
            found[name] = "is not what sanitising it again gives"
    return found


def check_vacancies(client: Client, expected: int) -> None:
    """Assert that every text of every vacancy is clean and served unchanged; null if empty."""
    rows = {row["id"]: row for row in Vacancy.objects.values("id", "title", *TEXTS)}
    assert len(rows) == expected
    for field in TEXTS:
        assert wrong({row["title"]: row[field] for row in rows.values()}) == {}, field
    pages = [f"/v1/vacancies?page[size]=100&page[number]={n}" for n in range(1, (expected + 199) // 100)]
    served = [item for page in pages for item in client.get(page).json()["data"]]
    assert {item["id"]: {name: item[name] for name in TEXTS} for item in served} == {
        pk: {name: row[name] or None for name in TEXTS} for pk, row in rows.items()
    }


def check_brands(expected: int) -> None:
    rows = dict(Brand.objects.exclude(name="Acme").values_list("name", "description"))
    assert len(rows) == expected
    assert wrong(rows) == {}


@pytest.fixture
def ready(filters: Any) -> dict[str, Any]:
    """Return the values that a published vacancy needs."""
    public = make_vacancy(title="like this one")
    values = {name: getattr(public, name) for name in ("brand", "head_recruiter", "status", "publish_from")}
    public.delete()
    return values


# --- the checker itself ---


def test_checker_rejects_every_payload_and_accepts_allowed_markup() -> None:
    passing = [name for name, html in PAYLOADS.items() if not faults(html)]

    # characters that look like markup, escaped markup, a quote inside a URL
    assert passing == ["script-full-width", "a-attribute-breakout-entities", "double-encoded"]
    assert len(PAYLOADS) > 180
    assert faults('<p>a<br>&lt;b&gt;</p><ul><li><a href="TEL:+32">c</a></li></ul><h2>d</h2>') == []


@pytest.mark.smoke
def test_sanitiser_removes_each_payload_and_is_idempotent() -> None:
    assert wrong({name: sanitise(html) for name, html in PAYLOADS.items()}) == {}


def test_sanitiser_removes_adjacent_payloads() -> None:
    """An unclosed payload does not protect the next one, in either order."""
    for names in (NAMES, NAMES[::-1]):
        for first, second in pairwise(names):
            html = f"<p>{PAYLOADS[first]}{PAYLOADS[second]}</p>"
            assert wrong({f"{first}, {second}": sanitise(html)}) == {}


def test_unknown_attributes_and_urls_without_a_scheme_are_removed() -> None:
    attributes = ("lang", "title", "dir", "class", "id", "style", "name", "rel", "target")
    addresses = ("//x.example", "/x", "x", "../x", "?x", "#x", "", "\\\\x", "www.x.example")

    for attribute in attributes:
        html = f'<p {attribute}="x">a <a href="https://x.example" {attribute}="x">b</a></p>'
        assert sanitise(html) == '<p>a <a href="https://x.example">b</a></p>'
    assert {sanitise(f'<a href="{address}">x</a>') for address in addresses} == {"<a>x</a>"}


# --- models ---


def test_written_texts_are_clean(client: Client, ready: Any) -> None:
    """tests/vacancies/test_fields.py writes in the other ways."""
    for name in NAMES:
        Vacancy.objects.create(title=name, **dirty(name), **ready)
        Brand.objects.create(name=name, description=PAYLOADS[name])
    check_vacancies(client, len(NAMES))
    check_brands(len(NAMES))

    rows = [Vacancy(pk=row.pk, title=row.title, **dirty(row.title), **ready) for row in Vacancy.objects.all()]
    Vacancy.objects.bulk_create(rows, update_conflicts=True, unique_fields=["id"], update_fields=TEXTS)
    check_vacancies(client, len(NAMES))


# --- pages ---


def vacancy_form(names: list[str], title: str) -> dict[str, Any]:
    """Return a form whose texts are the payloads of `names`; missing ones are empty."""
    texts = dict(zip(TEXTS, (PAYLOADS[name] for name in names), strict=False))
    people = {"brand": make_brand().pk, "head_recruiter": make_recruiter().pk}
    return {"title": title, "status": "published", "audience": "public", **people, **texts}


def test_texts_posted_to_the_pages_of_vacancies_are_clean(admin_client: Client, filters: Any) -> None:
    """Each post has several payloads, one for each text. Posts that change a row shift them by one text."""
    groups = [WITHOUT_NUL[n : n + len(TEXTS)] for n in range(0, len(WITHOUT_NUL), len(TEXTS))]
    for number, names in enumerate(groups):
        form = NO_ROWS | vacancy_form(names, f"{number}")
        assert admin_client.post(f"{VACANCIES}add/", form).status_code == 302
    check_vacancies(admin_client, len(groups))

    Vacancy.objects.update(**dict.fromkeys(TEXTS, "<p>before</p>"))
    for vacancy in Vacancy.objects.all():
        names = groups[int(vacancy.title)]
        url = f"{VACANCIES}{vacancy.pk}/change/"
        form = opened(admin_client, url) | vacancy_form(names[1:] + names[:1], vacancy.title)
        assert admin_client.post(url, form).status_code == 302
    check_vacancies(admin_client, len(groups))
    assert not Vacancy.objects.filter(description="<p>before</p>").exists()

    answer = admin_client.post(f"{VACANCIES}add/", NO_ROWS | vacancy_form(["script-nul"], "x"))
    assert list(answer.context["adminform"].form.errors) == [TEXTS[0]]
    assert Vacancy.objects.count() == len(groups)


def write_around_the_models(vacancy: Vacancy, html: str) -> None:
    """Store `html` unchanged in every text of `vacancy`."""
    columns = ", ".join(f"{connection.ops.quote_name(name)} = %s" for name in TEXTS)
    with connection.cursor() as cursor:
        sql = f"UPDATE {Vacancy._meta.db_table} SET {columns} WHERE id = %s"
        cursor.execute(sql, [*[html] * len(TEXTS), vacancy.pk])
    assert Vacancy.objects.get(pk=vacancy.pk).offer == html


def test_texts_written_with_sql_stay_inside_their_form_field(admin_client: Client, filters: Any) -> None:
    """The admin shows unsanitised rows as editable text, never as markup of the page."""
    vacancy = make_vacancy(title="<b title='")
    write_around_the_models(vacancy, "</textarea></script><img src=x onerror=pwned()>")

    for url in (f"{VACANCIES}{vacancy.pk}/change/", VACANCIES, f"{VACANCIES}{vacancy.pk}/history/"):
        page = admin_client.get(url).content.decode()
        assert "<img src=x" not in page
        assert "<b title=" not in page


# --- imports ---


def test_imported_texts_are_clean(client: Client, filters: Any, tmp_path: Path) -> None:
    items = [
        {"id": number, "title": name, "brand": {"name": name, "description": PAYLOADS[name]}}
        | {"head_recruiter": {"name": "An"}, **dirty(name)}
        for number, name in enumerate([*WITHOUT_NUL, "script-nul"], 1)
    ]
    path, errors = tmp_path / "items.json", StringIO()
    path.write_text(json.dumps({"data": items}))

    with pytest.raises(SystemExit) as stop:
        call_command("import_vacancies", str(path), stdout=StringIO(), stderr=errors)

    # only the row with a NUL character is refused, by name
    assert (stop.value.code, errors.getvalue().count("failed:")) == (1, 1)
    check_vacancies(client, len(WITHOUT_NUL))
    check_brands(len(WITHOUT_NUL))
    served = client.get("/v1/vacancies?page[size]=100").json()["data"]
    brands = dict(Brand.objects.values_list("name", "description"))
    assert {item["brand"]["name"]: item["brand"]["description"] for item in served}.items() <= brands.items()


# --- forms ---


def test_introductions_of_forms_are_clean(client: Client) -> None:
    """In the form, its versions and the API; null if empty. tests/forms_structure/test_models.py checks each
    way to write, test_structure.py that a NUL character is refused."""
    sections = [
        section(text_field(f"f{number}"), title=name, description=PAYLOADS[name])
        for number, name in enumerate(WITHOUT_NUL)
    ]
    form = operations.create(name="operations", structure=sections)
    updated = Form.objects.create(name="update")
    Form.objects.filter(pk=updated.pk).update(structure=sections)

    for row in (*Form.objects.all(), *Snapshot.objects.filter(form=form)):
        assert len(row.structure) == len(WITHOUT_NUL)
        assert wrong({each["title"]: each["description"] for each in row.structure}) == {}
    vacancy = make_vacancy(form=form)
    served = client.get(f"/v1/vacancies/{vacancy.pk}/form").json()["data"]
    stored = Form.objects.get(pk=form.pk).structure
    assert [each["description"] for each in served] == [each["description"] or None for each in stored]


# --- consent texts: a plain label and a URL, no markup ---


def test_consent_text_is_stored_unchanged(admin_client: Client) -> None:
    """It is a plain label: sites display it as text, so it is not sanitised."""
    text = PAYLOADS["img-onerror"]
    form = {"language": "en", "text": text, "statement_url": "https://x.example", "statement_label": text}

    assert admin_client.post("/admin/forms_structure/consenttext/add/", form).status_code == 302

    vacancy = make_vacancy()
    [consent] = admin_client.get(f"/v1/vacancies/{vacancy.pk}/form").json()["data"][-1]["fields"]
    assert (consent["label"], consent["link"]["label"]) == (text, text)
    assert "<img src=x" not in admin_client.get("/admin/forms_structure/consenttext/").content.decode()
