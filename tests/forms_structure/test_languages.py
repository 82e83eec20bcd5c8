"""The builder in the user's language, and forms in theirs."""

import json
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from forms_structure import operations
from forms_structure.models import Form
from tests.forms_structure.builder import LIST, NAME, STRUCTURE

APP = Path(apps.get_app_config("forms_structure").path)
LANGUAGES = ("nl", "fr", "de")


@pytest.fixture
def form(db):
    return operations.create(name="Standard", structure=STRUCTURE, language="de")


@pytest.fixture
def colleague(admin_user):
    """Return a signed-in client whose browser prefers `language`."""

    def client(language):
        client = Client(headers={"Accept-Language": language})
        client.force_login(admin_user)
        return client

    return client


# --- the admin ---------------------------------------------------------------------------------


def test_list_and_the_name_of_a_copy_are_in_dutch(colleague, form):
    reader = colleague("nl")
    page = reader.get(LIST)
    reader.post(LIST, {"action": "copy_selected", "_selected_action": [form.pk], "confirmed": "1"})

    for words in ("Formulieren", "Toegevoegd na formulier", "Instellen als formulier van de site"):
        assertContains(page, words)
    for words in ("Language", "Added after form", "Updated at", "Set as the site"):
        assertNotContains(page, words)
    assert Form.objects.filter(name="Kopie van Standard").exists()


def test_builder_is_in_dutch_and_the_form_in_its_own_language(colleague, form):
    page = colleague("nl").get(f"{LIST}{form.pk}/change/")

    [data] = re.findall('<script id="builder-data"[^>]*>(.*?)</script>', page.content.decode())
    data = json.loads(data)
    assertContains(page, "[first_name]: korte tekst, verplicht, helft")
    assertNotContains(page, "Short text")
    assert [each["label"] for each in data["widths"]][:2] == ["Volledige breedte", "Twee derde"]
    assert data["types"][0]["label"] == "Korte tekst"
    german = data["languages"]["de"]
    personal = german["presets"][0]
    assert (german["label"], german["levels"]["5"]) == ("Duits", "Muttersprache")
    assert personal["label"] == "Persoonlijke gegevens"
    assert personal["section"]["title"] == "Persönliche Angaben"
    assert page.content.index(b"/admin/texts.js") < page.content.index(b"builder.js")


def test_errors_are_translated_with_the_same_paths(colleague, form):
    wrong = json.dumps({"structure": [STRUCTURE[0] | {"fields": [NAME, NAME | {"label": ""}]}]})
    url = f"{LIST}{form.pk}/check/"

    reported = colleague("nl").post(url, wrong, content_type="application/json").json()

    assert reported["faults"] == {
        "sections.0.fields.1.label": "Mag niet leeg zijn.",
        "sections.0.fields.1.name": "'first_name' is ook de naam van sections.0.fields.0.name.",
    }


def test_too_large_form_is_refused_with_localized_numbers(colleague, form):
    url, much = f"{LIST}{form.pk}/save/", json.dumps({"structure": "x" * 2_700_000})
    texts = {
        "en": "The form has more than 2,621,440 bytes.",
        "de": "Das Formular ist größer als 2.621.440 Bytes.",
    }
    for language, text in texts.items():
        answer = colleague(language).post(url, much, content_type="application/json")
        assert (answer.status_code, answer.json()) == (413, {"faults": {"": text}})


def test_history_is_in_german(colleague, form):
    operations.save(form, operations.FormEdit([]))
    operations.restore(snapshot=form.snapshots.get(revision=1))
    copied = operations.copy(form=form)

    page = colleague("de").get(f"{LIST}{form.pk}/history/")
    other = colleague("de").get(f"{LIST}{copied.pk}/history/")

    assert form.snapshots.first().origin == "version 1 restored"
    assertContains(page, "Version 1 wiederhergestellt")
    assertContains(other, "Kopie von Standard")
    # German nouns keep their capital within a line.
    assertContains(page, "First name [first_name]: Kurzer Text, Pflichtfeld, Hälfte")
    for words in ("restored", "What changed", "by the system"):
        assertNotContains(page, words)


# --- the catalogs ------------------------------------------------------------------------------


def called(source, name, count):
    """Return the texts that `source` passes to `name`."""
    text = r"\s*\"((?:[^\"\\]|\\.)*)\""
    return re.findall(rf"\b{name}\({','.join([text] * count)}", source)


def test_script_finds_each_of_its_texts(client):
    folder = APP / "static/forms_structure"
    source = "".join(
        path.read_text() for path in [folder / "builder.js", *(folder / "builder").glob("*.js")]
    )
    singular, plural = called(source, "gettext", 1), called(source, "ngettext", 2)
    assert len(singular) > 100
    assert len(plural) > 10

    for language in LANGUAGES:
        answer = client.get("/admin/texts.js", headers={"Accept-Language": language})
        script = answer.content.decode()
        [catalog] = re.findall(r"const newcatalog = (\{.*?\n\s*\});", script, re.DOTALL)
        texts = json.loads(catalog)
        assert [text for text in singular if not texts.get(text)] == []
        assert [one for one, _ in plural if len(texts.get(one, ())) != 2] == []
        assert (answer["Content-Language"], "Accept-Language" in answer["Vary"]) == (language, True)
    assert client.get("/admin/texts.js", headers={"Accept-Language": "en"}).status_code == 200
