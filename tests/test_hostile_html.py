"""Texts are sanitised on every way into the database, and served as stored.

The payloads and the strict parser are in tests/hostile_html.py. tests/browser/test_hostile_html.py
loads the payloads in a browser.
"""

from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from jobsite.text.html import sanitise
from tests.factories import make_vacancy
from tests.hostile_html import PAYLOADS, faults
from vacancies.fields import html_fields
from vacancies.models import Brand, Vacancy

pytestmark = [pytest.mark.slow("stores many payloads in every text"), pytest.mark.django_db]

TEXTS = html_fields(Vacancy)
NAMES = list(PAYLOADS)
# Every payload is sanitised and created once. The other ways to write show only that they sanitise
# too. JSON forms, imports and pages refuse a NUL character; they get the other payloads.
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
    pages = [
        f"/v1/vacancies?page[size]=100&page[number]={n}" for n in range(1, (expected + 199) // 100)
    ]
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
    values = {
        name: getattr(public, name)
        for name in ("brand", "head_recruiter", "status", "publish_from")
    }
    public.delete()
    return values


# --- the checker itself ---


def test_checker_rejects_every_payload_and_accepts_allowed_markup() -> None:
    passing = [name for name, html in PAYLOADS.items() if not faults(html)]

    # characters that look like markup, escaped markup, a quote inside a URL
    assert passing == ["script-full-width", "a-attribute-breakout-entities", "double-encoded"]
    assert len(PAYLOADS) > 100
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

    rows = [
        Vacancy(pk=row.pk, title=row.title, **dirty(row.title), **ready)
        for row in Vacancy.objects.all()
    ]
    Vacancy.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["id"], update_fields=TEXTS
    )
    check_vacancies(client, len(NAMES))


def write_around_the_models(vacancy: Vacancy, html: str) -> None:
    """Store `html` unchanged in every text of `vacancy`."""
    columns = ", ".join(f"{connection.ops.quote_name(name)} = %s" for name in TEXTS)
    with connection.cursor() as cursor:
        sql = f"UPDATE {Vacancy._meta.db_table} SET {columns} WHERE id = %s"
        cursor.execute(sql, [*[html] * len(TEXTS), vacancy.pk])
    assert Vacancy.objects.get(pk=vacancy.pk).offer == html


def test_texts_written_with_sql_stay_inside_their_form_field(
    admin_client: Client, filters: Any
) -> None:
    """The admin shows unsanitised rows as editable text, never as markup of the page."""
    vacancy = make_vacancy(title="<b title='")
    write_around_the_models(vacancy, "</textarea></script><img src=x onerror=pwned()>")

    for url in (f"{VACANCIES}{vacancy.pk}/change/", VACANCIES, f"{VACANCIES}{vacancy.pk}/history/"):
        page = admin_client.get(url).content.decode()
        assert "<img src=x" not in page
        assert "<b title=" not in page


# --- consent texts: a plain label and a URL, no markup ---


def test_consent_text_is_stored_unchanged(admin_client: Client) -> None:
    """It is a plain label: sites display it as text, so it is not sanitised."""
    text = PAYLOADS["img-onerror"]
    form = {
        "purpose": "application",
        "language": "en",
        "text": text,
        "statement_url": "https://x.example",
        "statement_label": text,
    }

    assert admin_client.post("/admin/forms_structure/consenttext/add/", form).status_code == 302

    vacancy = make_vacancy()
    [consent] = admin_client.get(f"/v1/vacancies/{vacancy.pk}/form").json()["data"][-1]["fields"]
    assert (consent["label"], consent["link"]["label"]) == (text, text)
    assert (
        "<img src=x" not in admin_client.get("/admin/forms_structure/consenttext/").content.decode()
    )
