"""The languages of the admin: complete catalogs, the choice of a language, and an API in English."""

import ast
import gettext
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import translation
from django.utils.translation import trans_real
from pytest_django.asserts import assertContains

from jobsite.admin.users import described
from jobsite.formats import format_datetime
from tests.applications.makers import make_application, make_stage
from tests.factories import make_vacancy

ROOT = Path(settings.BASE_DIR)
LANGUAGES = ["nl", "fr", "de"]
CATALOGS = sorted(
    str(path.relative_to(ROOT)) for path in ROOT.glob("[a-z]*/locale/[a-z][a-z]/LC_MESSAGES/*.po")
)
APPS = sorted({name.split("/")[0] for name in CATALOGS} & {"forms_structure", "vacancies", "applications"})
HIDDEN = {"id", "digest", "token_key", "structure"}  # on no page
LINE = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr)(?:\[\d\])? )?(".*")')
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sd]|\{\w*\}|<[^>]+>")


def entries(path):
    """Return the messages of a .po file as (context, English texts, translations)."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        output = {"msgctxt": [], "msgid": [], "msgid_plural": [], "msgstr": []}
        for keyword, text in LINE.findall("\n".join(re.findall(r"^[^#].*", block, re.MULTILINE))):
            if keyword:
                texts = output[keyword]
                texts.append("")
            texts[-1] += ast.literal_eval(text)
        found.append(("".join(output["msgctxt"]), output["msgid"] + output["msgid_plural"], output["msgstr"]))
    return found


# --- the catalogs ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CATALOGS)
def test_catalog_is_complete(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    header, *messages = entries(ROOT / name)

    assert header[1] == [""]
    assert f"Language: {name.split('/')[2]}\n" in header[2][0]
    assert "Plural-Forms: nplurals=2;" in header[2][0]
    assert messages
    assert not re.findall("^#.*fuzzy|^#~", text, re.MULTILINE)
    for _, english, translated in messages:
        assert len(translated) == len(english)
        assert all(translated), english
        *ones, last = [sorted(PLACEHOLDER.findall(form)) for form in translated]
        wanted = [sorted(PLACEHOLDER.findall(form)) for form in english]
        assert last == wanted[-1], english
        assert all(one in wanted for one in ones), english  # the singular may leave out the number


@pytest.mark.parametrize("name", sorted({re.sub("/locale/../", "/locale/{}/", name) for name in CATALOGS}))
def test_catalogs_have_the_same_messages(name):
    known = {
        language: [entry[:2] for entry in entries(ROOT / name.format(language))] for language in LANGUAGES
    }

    assert known["fr"] == known["nl"]
    assert known["de"] == known["nl"]


@pytest.mark.parametrize("name", CATALOGS)
def test_catalog_is_compiled(name):
    """`make messages` compiles the .mo files, which Django reads."""
    with (ROOT / name).with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog

    expected = {}
    for context, english, translated in entries(ROOT / name):
        key = f"{context}\x04{english[0]}" if context else english[0]
        if len(english) == 1:
            expected[key] = translated[0]
        else:
            expected |= {(key, number): text for number, text in enumerate(translated)}
    assert compiled == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("app", APPS)
def test_names_of_models_and_fields_are_translated(app, language):
    """The default verbose names are in `NAMES` of the app."""
    django = trans_real.translation(language)._catalog
    ours = {
        text
        for name in CATALOGS
        if f"/{language}/" in name
        for _, english, _ in entries(ROOT / name)
        for text in english
    }
    missing = set()
    with translation.override(None):
        for model in filter(admin.site.is_registered, apps.get_app_config(app).get_models()):
            meta = model._meta
            shown = [
                field
                for field in (*meta.fields, *meta.many_to_many)
                if field.editable and field.name not in HIDDEN
            ]
            names = {str(thing.verbose_name) for thing in (meta, *shown)} | {str(meta.verbose_name_plural)}
            missing |= {(meta.label, name) for name in names if name not in ours and name not in django}
    assert missing == set()


# --- who reads what ----------------------------------------------------------------------------


@pytest.fixture
def root(db):
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("header", "language", "words"),
    [
        ("nl-BE,en;q=0.5", "nl", ("Welkom terug bij", "Wachtwoord")),
        ("fr", "fr", ("Bienvenue sur", "Mot de passe")),
        ("de-CH", "de", ("Willkommen zurück bei", "Passwort")),
        ("ja", "en", ("Welcome back to", "Password")),
    ],
)
def test_admin_uses_the_browsers_language(client, header, language, words):
    answer = client.get("/admin/login/", headers={"accept-language": header})

    assert answer["Content-Language"] == language
    assert {"Accept-Language", "Cookie"} <= set(answer["Vary"].split(", "))
    assertContains(answer, f'<html lang="{language}"')
    for word in words:
        assertContains(answer, word)


@pytest.mark.django_db
def test_chosen_language_is_remembered(client):
    german = {"accept-language": "de"}

    client.post("/admin/language", {"language": "nl", "next": "/admin/login/"}, headers=german)
    assertContains(client.get("/admin/login/", headers=german), "Welkom terug bij")

    client.post("/admin/language", {"language": "xx", "next": "/admin/login/"}, headers=german)
    assertContains(client.get("/admin/login/", headers=german), "Welkom terug bij")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/v1/vacancies", "/v1/filters", "/v1/nothing", "/docs", "/openapi.json"])
def test_api_is_in_english(client, path):
    make_vacancy(title="Nurse")
    plain = client.get(path)

    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "nl"
    answer = client.get(path, headers={"accept-language": "fr"})

    assert answer.content == plain.content
    assert answer.headers == plain.headers
    assert "Accept-Language" not in answer.get("Vary", "")
    assert "Content-Language" not in answer


COLUMNS = {
    "applicant_name": "Sollicitant", "to_vacancy": "Vacature", "shown_stage": "Fase",
    "applied": "Gesolliciteerd", "next_step": "Volgend gesprek of taak", "stars": "Beoordeling",
    "marks": "Kenmerken", "files": "Bestanden",
}  # fmt: skip


def test_list_of_applications_in_dutch(root):
    make_application(stage=make_stage("Zyxstage"), created_at=datetime(2026, 3, 9, 10, tzinfo=UTC))

    answer = root.get("/admin/applications/application/", headers={"accept-language": "nl"})

    columns = re.findall(r'<th class="[^"]*\bcolumn-([a-z_]+)', answer.text)
    titles = re.findall(r">\s*(" + "|".join(COLUMNS.values()) + r")\s*<", answer.text)
    assert columns == list(COLUMNS)
    assert set(COLUMNS.values()) <= set(titles)
    assert answer.context["title"] == "Sollicitaties"
    assertContains(answer, "9 mrt 2026, 10:00")
    assertContains(answer, "Verplaats naar: Zyxstage")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", "9 Mar 2026, 10:00"),
        ("nl", "9 mrt 2026, 10:00"),
        ("fr", "9 mars 2026 à 10:00"),
        ("de", "9. März 2026, 10:00"),
    ],
)
def test_datetime_format_is_localized(language, written):
    with translation.override(language):
        assert format_datetime(datetime(2026, 3, 9, 10, tzinfo=UTC)) == written


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "output"),
    [
        ("en", "applicants | application | Can change application"),
        ("nl", "sollicitanten | sollicitatie | Kan sollicitatie wijzigen"),
        ("de", "Bewerber | Bewerbung | Kann Bewerbung ändern"),
    ],
)
def test_permission_name_is_translated(language, output):
    permission = Permission.objects.get(codename="change_application")

    with translation.override(language):
        assert described(permission) == output
