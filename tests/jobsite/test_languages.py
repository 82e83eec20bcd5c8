"""The languages of the admin:
complete catalogs, the choice of a language, and an API in English.
"""

import ast
import gettext
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import translation
from django.utils.functional import Promise

from jobsite.admin.users import permission_label
from jobsite.ops.catalogs import compile_catalogs, outdated
from jobsite.text.formats import format_datetime
from tests.factories import make_vacancy

ROOT = Path(settings.BASE_DIR)
LANGUAGES = ["nl", "fr", "de"]
CATALOGS = sorted(
    str(path.relative_to(ROOT)) for path in ROOT.glob("[a-z]*/locale/[a-z][a-z]/LC_MESSAGES/*.po")
)
APPS = sorted(
    {name.split("/")[0] for name in CATALOGS} & {"forms_structure", "vacancies", "applications"}
)
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
        found.append(
            ("".join(output["msgctxt"]), output["msgid"] + output["msgid_plural"], output["msgstr"])
        )
    return found


def test_catalogs_are_complete_and_compiled():
    """What Django reads has the translations of each .po file, by Python's reader of .mo files."""
    known = {}
    for name in CATALOGS:
        text = (ROOT / name).read_text(encoding="utf-8")
        header, *messages = entries(ROOT / name)
        with (ROOT / name).with_suffix(".mo").open("rb") as file:
            compiled = gettext.GNUTranslations(file)._catalog

        language = name.split("/")[2]
        known.setdefault(name.replace(f"/{language}/", "/"), []).append(
            [entry[:2] for entry in messages]
        )
        assert header[1] == [""], name
        assert f"Language: {language}\n" in header[2][0]
        assert "Plural-Forms: nplurals=2;" in header[2][0]
        assert messages
        assert not re.findall("^#.*fuzzy|^#~", text, re.MULTILINE), name
        expected = {"": header[2][0]}
        for context, english, translated in messages:
            assert len(translated) == len(english), english
            assert all(translated), english
            *ones, last = [sorted(PLACEHOLDER.findall(form)) for form in translated]
            wanted = [sorted(PLACEHOLDER.findall(form)) for form in english]
            assert last == wanted[-1], english
            # The singular may leave out the number.
            assert all(one in wanted for one in ones), english
            key = f"{context}\x04{english[0]}" if context else english[0]
            if len(english) == 1:
                expected[key] = translated[0]
            else:
                expected |= {(key, number): text for number, text in enumerate(translated)}
        assert compiled == expected, name
    assert [
        name for name, languages in known.items() if languages != languages[:1] * len(LANGUAGES)
    ] == []


def test_outdated_and_unreadable_catalogs_are_reported(tmp_path, settings):
    settings.BASE_DIR = tmp_path
    catalog = tmp_path / "shop/locale/nl/LC_MESSAGES/django.po"
    catalog.parent.mkdir(parents=True)
    catalog.write_text(
        'msgctxt "a job"\nmsgid "open"\nmsgstr ""\n"va"\n"cant"\n\nmsgid "new"\nmsgstr ""\n'
    )

    assert [path.name for path, _ in outdated()] == ["django.mo"]
    assert (compile_catalogs(), compile_catalogs(), list(outdated())) == (1, 0, [])
    with catalog.with_suffix(".mo").open("rb") as file:
        assert gettext.GNUTranslations(file)._catalog == {"a job\4open": "vacant"}

    catalog.write_text("msgid nothing\n")
    with pytest.raises(
        CommandError, match=r"not compiled: .*django\.po: 'msgid nothing' is not a line"
    ):
        call_command("compilemessages")


def test_names_of_models_and_fields_are_translated():
    """`verbose_name` is lazy, so `make messages` finds it."""
    missing = set()
    for model in (model for app in APPS for model in apps.get_app_config(app).get_models()):
        meta = model._meta
        if admin.site.is_registered(model):
            fields = [field for field in (*meta.fields, *meta.many_to_many) if field.editable]
            names = {field.name: field.verbose_name for field in fields if field.name not in HIDDEN}
            names |= {
                "verbose_name": meta.verbose_name,
                "verbose_name_plural": meta.verbose_name_plural,
            }
            missing |= {
                (meta.label, key) for key, name in names.items() if not isinstance(name, Promise)
            }
    assert missing == set()


@pytest.mark.django_db
def test_admin_uses_the_browsers_language_and_the_api_english(client):
    for header, language, words in (
        ("nl-BE,en;q=0.5", "nl", ("Welkom terug bij", "Wachtwoord")),
        ("fr", "fr", ("Bienvenue sur", "Mot de passe")),
        ("de-CH", "de", ("Willkommen zurück bei", "Passwort")),
        ("ja", "en", ("Welcome back to", "Password")),
    ):
        answer = client.get("/admin/login/", headers={"accept-language": header})
        assert answer["Content-Language"] == language
        assert {"Accept-Language", "Cookie"} <= set(answer["Vary"].split(", "))
        assert [
            text for text in (f'<html lang="{language}"', *words) if text not in answer.text
        ] == []

    german = {"accept-language": "de"}
    for chosen in ("nl", "xx"):
        client.post(
            "/admin/language", {"language": chosen, "next": "/admin/login/"}, headers=german
        )
        assert "Welkom terug bij" in client.get("/admin/login/", headers=german).text

    make_vacancy(title="Nurse")
    dutch = Client()
    dutch.cookies[settings.LANGUAGE_COOKIE_NAME] = "nl"
    for path in ("/v1/vacancies", "/v1/filters", "/v1/nothing", "/docs", "/openapi.json"):
        plain, answer = Client().get(path), dutch.get(path, headers={"accept-language": "fr"})
        assert (answer.content, answer.headers) == (plain.content, plain.headers), path
        assert "Accept-Language" not in answer.get("Vary", ""), path
        assert "Content-Language" not in answer, path

    permission = Permission.objects.get(codename="change_application")
    for language, written, name in (
        ("en", "9 Mar 2026, 10:00", "applicants | application | Can change application"),
        ("nl", "9 mrt 2026, 10:00", "sollicitanten | sollicitatie | Kan sollicitatie wijzigen"),
        ("fr", "9 mars 2026 à 10:00", None),
        ("de", "9. März 2026, 10:00", "Bewerber | Bewerbung | Kann Bewerbung ändern"),
    ):
        with translation.override(language):
            assert format_datetime(datetime(2026, 3, 9, 10, tzinfo=UTC)) == written
            assert permission_label(permission) == name or not name
