"""Every page of vacancies is translated: a text that equals the English page is data or the same in
both languages. Pages are read in Dutch: tests/jobsite/test_languages.py compares the catalogs of
all languages.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from html.parser import HTMLParser
from typing import Any
from zoneinfo import available_timezones

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db.models import TextField, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone, translation
from django.utils.translation import get_language_info, trans_real

from applications.models import MailTemplate
from forms_structure.models import Form
from jobsite.admin.users import permission_label
from jobsite.db.transactions import dry_run
from jobsite.text.iso_codes import COUNTRIES
from jobsite.text.iso_codes import LANGUAGES as LANGUAGES_639
from jobsite.text.iso_names import country_name, language_name
from tests.factories import make_option, make_recruiter, make_vacancy
from tests.vacancies.admin.forms import LIST, NO_ROWS, staff
from vacancies.access.previews import token_for
from vacancies.admin.list.filters import REASONS
from vacancies.admin.publication.actions import ACTIONS
from vacancies.choices import Keyword, State
from vacancies.history.versions import record
from vacancies.manage.tokens import create_integration, issue_token
from vacancies.models import (
    Attachment,
    Brand,
    BrandLink,
    Change,
    Filter,
    Integration,
    Vacancy,
    VacancyTemplate,
    Version,
    Webhook,
    WebhookAttempt,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
LANGUAGES = ["nl", "fr", "de"]
DUTCH = "nl"
MARK = "zyx"  # in every name that a recruiter gave
# Names, and what a reader of any language sees like that.
SPOKEN = [get_language_info(code) for code in (*LANGUAGES, "en")]
NAMES = (info[key].lower() for info in SPOKEN for key in ("code", "name_local"))
OF_CLDR = [country_name(code, DUTCH) for code in COUNTRIES] + [
    language_name(code, DUTCH) for code in LANGUAGES_639
]
SAME = {
    "jobsite",
    "utc",
    "pdf",
    "filter[regions]",
    *Keyword.values,
    *NAMES,
    *map(str.lower, OF_CLDR),
}
SAME |= {name.lower() for name in available_timezones()}
# Placeholders in templates of emails, counts, addresses, beginnings of tokens, scopes.
IGNORED = re.compile(r"\{\w+\}| \(\d+\)$|\S+@\S+|jsi_\S+|vacancies:read")
LABELS = ("aria-label", "title", "placeholder", "alt", "data-label")
UNSEEN = {"script", "style", "template", "textarea", "kbd"}
VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "track",
    "wbr",
}


class Text(HTMLParser):
    """The visible texts and labels of a page, without icons."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.output: list[str] = []
        self.open: list[tuple[str, bool]] = []
        self.feed(html)

    def say(self, text: str | None) -> None:
        self.output += filter(None, (" ".join(part.split()) for part in (text or "").split(" | ")))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_icon = "material-symbols" in (values.get("class") or "")
        is_silent = tag in UNSEEN or is_icon or ("lang" in values and tag != "html")
        if not is_silent:
            for name in LABELS:
                self.say(values.get(name))
            if tag == "input" and values.get("type") in ("submit", "button", "reset"):
                self.say(values.get("value"))
        if tag not in VOID:
            self.open.append((tag, is_silent or bool(self.open and self.open[-1][1])))

    def handle_endtag(self, tag: str) -> None:
        while any(tag == each for each, _ in self.open) and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not (self.open and self.open[-1][1]):
            self.say(data)


@cache
def catalog(language: str) -> dict[str, set[str]]:
    """Return the translations of each English text, in all catalogs."""
    found: dict[str, set[str]] = {}
    for key, text in trans_real.translation(language)._catalog.items():  # type: ignore[attr-defined]
        english = (key[0] if isinstance(key, tuple) else key).rpartition("\x04")[2]
        if english and text:
            found.setdefault(english, set()).add(text)
    return found


@cache
def words(language: str) -> tuple[set[str], set[str]]:
    """Return the texts that are the same in `language` and English, and those that differ."""
    known = {
        text.lower(): {each.lower() for each in output}
        for text, output in catalog(language).items()
    }
    own = {each for output in known.values() for each in output}
    same = {text for text, output in known.items() if text in output} | SAME
    return same, set(known) - own - same


def leftovers(answer: HttpResponse, english: HttpResponse, language: str) -> set[str]:
    """Return the texts of `answer` that are still English."""
    return untranslated(answer.content.decode(), english.content.decode(), language)


def is_anybodys(text: str, same: set[str]) -> bool:
    """Return whether a text needs no translation: a number, data, or the same in both languages."""
    text = IGNORED.sub("", text)
    return not re.search("[a-z]{2}", text) or MARK in text or text.strip(" :0123456789") in same


def untranslated(html: str, english: str, language: str) -> set[str]:
    """Return the English texts of `html`: those that the English page has too, and those that a
    catalog translates.
    """
    same, other = words(language)
    shared = {text for text in Text(english).output if not is_anybodys(text.lower(), same)}
    return {text for text in Text(html).output if text.lower() in other or text in shared}


# --- something of everything -------------------------------------------------------------------


@pytest.fixture(autouse=True)
def still(at: datetime) -> datetime:
    return at


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser(f"{MARK}root"))
    return client


@pytest.fixture
def shop(at: datetime) -> dict[Any, Any]:
    """A vacancy in each state, with all related rows and content warnings."""
    for each in Filter.objects.all():
        Filter.objects.filter(pk=each.pk).update(label=f"{MARK} {each.keyword}")
    form = Form.objects.create(name=f"{MARK} form")
    brand = Brand.objects.create(
        name=f"{MARK} brand", url="https://zyx.test", icon_small_url="https://zyx.test/i.png"
    )
    integration = Integration(name=f"{MARK} integration", scopes=["vacancies:read"])
    issue_token(create_integration(integration, author=None), at=at)
    for state in Webhook.State:
        hook = Webhook.objects.create(name=f"ZYX {state}", url="https://zyx.test/", state=state)
    for reason in ("", "There was no connection."):
        WebhookAttempt.objects.create(
            webhook=hook,
            at=timezone.now(),
            event="ping",
            status=None if reason else 200,
            reason=reason,
            milliseconds=12,
        )
    BrandLink.objects.create(
        brand=brand, kind="other", label=f"{MARK} link", url="https://zyx.test"
    )
    head = make_recruiter(f"{MARK} head", image_url="https://zyx.test/i.png")
    make_option("regions", f"{MARK} other")
    week = timedelta(days=7)
    moments = {
        State.DRAFT: ("draft", None, None),
        State.SCHEDULED: ("published", at + week, None),
        State.PUBLISHED: ("published", at - week, at + timedelta(days=3, hours=3)),
        State.EXPIRED: ("published", at - 2 * week, at - week),
        State.UNPUBLISHED: ("unpublished", at - week, None),
        State.ARCHIVED: ("archived", at - week, None),
    }
    author = User.objects.create_user(f"{MARK}author")
    made: dict[Any, Any] = {}
    for state, (status, begin, end) in moments.items():
        vacancy = make_vacancy(
            title=f"ZYX {state.value}",
            brand=brand,
            head_recruiter=head,
            status=status,
            form=form,
            publish_from=begin,
            publish_until=end,
            is_hot=True,
            is_permanent=True,
            audience="both",
            title_internal=f"{MARK} budget",
            location=f"{MARK} town",
            description="",
            recruiters=(f"{MARK} second",),
            options={"regions": [f"{MARK} place"]} if begin else {},
        )
        Attachment.objects.create(
            vacancy=vacancy, name=f"{MARK}.pdf", url="https://zyx.test/zyx.pdf"
        )
        for change in (Change.EXTERNAL, *Change):
            vacancy.description += f"<p>{MARK}</p>"
            vacancy.save()
            record(vacancy, change, author=author if change != Change.EXTERNAL else None, at=at)
        made[state] = vacancy
    VacancyTemplate.objects.create(
        name=f"{MARK} template", brand=brand, content={"title": f"{MARK} title"}
    )
    gone = make_vacancy(title=f"{MARK} gone", brand=brand, head_recruiter=head)
    record(gone, Change.DELETED, author=author, at=at)
    gone.delete()
    return made


def pages(shop: dict[Any, Any]) -> Iterator[str]:
    """Return all URLs of the admin of vacancies, with a row of each model where needed."""
    vacancy = shop[State.PUBLISHED]
    version = Version.objects.filter(vacancy=vacancy.pk).order_by("pk").first()
    assert version is not None
    for model in apps.get_app_config("vacancies").get_models():
        if not admin.site.is_registered(model):
            continue
        row = vacancy if model is Vacancy else model._default_manager.order_by("pk").first()
        assert row is not None, model
        place = f"/admin/vacancies/{model._meta.model_name}/"
        for pattern in admin.site.get_model_admin(model).get_urls():
            if isinstance(pattern, URLPattern) and pattern.name:
                route = str(pattern.pattern)
                for name, value in (("object_id", row.pk), ("pk", row.pk), ("number", version.pk)):
                    route = re.sub(rf"<\w+:{name}>", str(value), route)
                assert "<" not in route, route
                yield place + route


def in_both(client: Client, path: str, language: str, **data: Any) -> tuple[Any, Any]:
    """Return the responses in `language` and in English to a GET, or to a POST of `data`."""
    ask = client.post if data else client.get
    answers = []
    for code in (language, "en"):
        client.cookies.pop("messages", None)  # of the last request, in its language
        answers.append(ask(path, data or None, headers={"accept-language": code}))
    assert answers[0].status_code == answers[1].status_code
    return answers[0], answers[1]


def is_page(answer: Any) -> bool:
    return answer.status_code == 200 and answer["Content-Type"].startswith("text/html")


# --- the admin ---------------------------------------------------------------------------------


def test_untranslated_text_is_found() -> None:
    """In the catalogs, and not marked for translation."""
    english = HttpResponse(
        "<p>Publish now</p><p>Look here</p><b>zyx</b><i>12</i><p>Status</p><p title='So'>"
    )
    half = HttpResponse(
        "<p>Publish now</p><p>Look here</p><b>zyx</b><i>12</i><p>Status</p><p title='Zo'>"
    )
    with_more = HttpResponse(
        "<p>Nu publiceren</p><p>Kijk hier</p><p>Unpublish</p><script>Archive</script>"
    )

    assert leftovers(half, english, "nl") == {"Publish now", "Look here"}
    assert leftovers(with_more, english, "nl") == {"Unpublish"}


@pytest.mark.slow("every page in two languages")
def test_every_page_of_the_admin(root: Client, shop: dict[Any, Any]) -> None:
    MailTemplate.objects.update(
        name=Concat(Value(MARK), Cast("pk", TextField()))
    )  # recruiters give them
    queries = [*(f"state={state}" for state in (*State, "all")), "q=nothing-that-is-there"]
    queries += [f"attention={code}" for code, _ in REASONS]
    decisions = ("change", *(action.name for action in ACTIONS))
    paths = [
        *("/admin/", *pages(shop), *(f"{LIST}?{query}" for query in queries)),
        *(f"{LIST}{vacancy.pk}/{page}/" for vacancy in shop.values() for page in decisions),
    ]
    found, seen = {}, 0
    for path in dict.fromkeys(paths):
        answer, english = in_both(root, path, DUTCH)
        if is_page(answer):
            seen += 1
            if left := leftovers(answer, english, DUTCH):
                found[path] = left

    assert found == {}
    assert seen > 80


@pytest.mark.slow("every page in two languages")
def test_pages_with_few_permissions(shop: dict[Any, Any]) -> None:
    found = {}
    for names in (["view_vacancy"], ["view_vacancy", "add_vacancy"]):
        client = staff(f"{MARK}{len(names)}", *names, "work_for_every_brand")
        for path in ("/admin/", LIST, f"{LIST}{shop[State.DRAFT].pk}/change/", f"{LIST}deleted/"):
            if left := leftovers(*in_both(client, path, DUTCH), DUTCH):
                found[names[-1], path] = left
    assert found == {}


def test_dashboard_without_vacancies(root: Client) -> None:
    for path in ("/admin/", LIST, f"{LIST}deleted/"):
        answer, english = in_both(root, path, DUTCH)
        assert leftovers(answer, english, DUTCH) == set(), path


# --- results of actions -----------------------------------------------------------------------


@pytest.mark.slow("every page in two languages")
def test_changelist_actions(root: Client, shop: dict[Any, Any]) -> None:
    plain = root.get(LIST, headers={"accept-language": "en"})
    found = {}
    for action in ACTIONS:
        with dry_run(True):
            chosen = [row.pk for row in shop.values()]
            data = {"action": f"{action.name}_selected", "_selected_action": chosen}
            answer, requested = (
                root.post(LIST, data, headers={"accept-language": code}, follow=True)
                for code in (DUTCH, "en")
            )
            english = plain if requested.redirect_chain else requested
            if left := leftovers(answer, english, DUTCH):
                found[action.name] = left
    assert found == {}


@pytest.mark.slow("every page in two languages")
def test_result_of_an_action(root: Client, shop: dict[Any, Any]) -> None:
    """Done or refused: the message is in the reader's language.
    The page that follows is tested above.
    """
    past = {
        "confirmed": "1",
        "day": "2020-01-01",
        "publish_from_0": "2020-01-01",
        "publish_from_1": "10:00",
    }
    found, redirects = {}, 0
    for state, vacancy in shop.items():
        for action in ACTIONS:
            output = []
            for code in (DUTCH, "en"):
                root.cookies.pop("messages", None)  # of the last request, in its language
                with dry_run(True):
                    answer = root.post(
                        f"{LIST}{vacancy.pk}/{action.name}/",
                        past,
                        headers={"accept-language": code},
                    )
                messages = answer.wsgi_request._messages._queued_messages
                assert messages or answer.status_code == 200
                output.append(" | ".join([*map(str, messages), answer.content.decode()]))
                redirects += answer.status_code == 302
            if left := untranslated(*output, DUTCH):
                found[state, action.name] = left
    assert found == {}
    assert redirects > 20


@pytest.mark.slow("every page in two languages")
def test_form_errors(root: Client, shop: dict[Any, Any]) -> None:
    """A vacancy that would close before it goes live."""
    wrong = {
        "title": f"{MARK} new",
        "status": "published",
        "audience": "x",
        "image_url": "ftp://x",
        "publish_from_0": "1800-01-01",
        "publish_from_1": "10:00",
        "last_day": "2300-01-01",
        "video": "a:b",
        **NO_ROWS,
    }
    early = {
        **wrong,
        "audience": "both",
        "publish_from_0": "2026-02-01",
        "last_day": "2026-01-01",
        "attachments-TOTAL_FORMS": "1",
        "attachments-0-name": f"{MARK} both",
        "attachments-0-position": "x",
    }
    public = shop[State.PUBLISHED]
    shown = f"{LIST}{public.pk}/change/"
    opened = {"version": Vacancy.objects.get(pk=public.pk).updated_at.isoformat()}
    for path, data in (
        (f"{LIST}add/", wrong),
        (f"{LIST}add/", early),
        (shown, wrong | opened),
        (shown, early | opened),
    ):
        answer, english = in_both(root, path, DUTCH, **data)
        assert answer.context["adminform"].form.errors
        assert leftovers(answer, english, DUTCH) == set(), path


@pytest.mark.slow("every page in two languages")
def test_options_are_merged_and_kept_while_in_use(root: Client, shop: dict[Any, Any]) -> None:
    place = "/admin/vacancies/filteroption/"
    options = list(Filter.objects.get(keyword="regions").options.all())
    used = next(option for option in options if option.choices.exists())
    for action, chosen in (("merge", options), ("merge", options[:1]), ("delete_selected", [used])):
        answer, english = in_both(
            root, place, DUTCH, action=action, _selected_action=[option.pk for option in chosen]
        )
        assert leftovers(answer, english, DUTCH) == set(), action

    merge = {
        "action": "merge",
        "_selected_action": [option.pk for option in options],
        "into": used.pk,
    }
    confirmed = {**merge, "confirmed": "1"}
    merged = root.post(place, confirmed, headers={"accept-language": DUTCH}, follow=True)
    plain = root.get(place, headers={"accept-language": "en"})
    assert leftovers(merged, plain, DUTCH) == set()


# --- previews, permissions, catalogs of scripts ------------------------------------------------


@pytest.mark.slow("opens many pages")
def test_previews(client: Client, shop: dict[Any, Any]) -> None:
    Vacancy.objects.update(video="https://zyx.test/v")
    for token in (*(token_for(vacancy.pk) for vacancy in shop.values()), "wrong"):
        answer, english = in_both(client, f"/preview/{token}", DUTCH)
        assert f'<html lang="{DUTCH}"' in answer.text
        assert leftovers(answer, english, DUTCH) == set()


def test_preview_end_is_localized(client: Client) -> None:
    path = f"/preview/{token_for(make_vacancy(status='draft', publish_from=None).pk)}"
    moments = {"en": "3 Mar 2026, 09:30", "nl": "3 mrt 2026, 09:30", "fr": "3 mars 2026 à 09:30"}
    moments["de"] = "3. März 2026, 09:30"
    shown = {code: client.get(path, headers={"accept-language": code}).text for code in moments}
    assert [code for code, moment in moments.items() if moment not in shown[code]] == []


def test_custom_permissions_are_translated() -> None:
    rows = Permission.objects.filter(content_type__app_label="vacancies").select_related(
        "content_type"
    )

    with translation.override("en"):
        english = {row.pk: permission_label(row).split(" | ")[-1] for row in rows}
    for language in LANGUAGES:
        with translation.override(language):
            same = [
                row.name
                for row in rows
                if permission_label(row).split(" | ")[-1] == english[row.pk]
            ]
        assert same == [], language


def test_scripts_have_their_catalog(root: Client) -> None:
    texts = {
        "nl": "Wijzigingen bekijken",
        "fr": "Vérifier les modifications",
        "de": "Änderungen prüfen",
    }
    for language, text in texts.items():
        answer = root.get("/admin/texts.js", headers={"accept-language": language})
        assert json.dumps(text) in answer.text, language


# --- what stays English ------------------------------------------------------------------------


@pytest.mark.slow("many cases")
def test_api_does_not_depend_on_the_language(client: Client, shop: dict[Any, Any]) -> None:
    pk = shop[State.PUBLISHED].pk
    paths = [
        "/v1/vacancies",
        f"/v1/vacancies/{pk}",
        f"/v1/vacancies/{pk}/form",
        f"/v1/vacancies/{pk}/form/schema",
        "/v1/vacancies/hot",
        "/v1/vacancies?sort=wrong",
        "/v1/vacancies?filter[search]=",
        "/v1/filters",
        "/v1/vacancies/999999",
        "/v1/user/applications",
        "/v0.1/vacancies",
        "/openapi.json",
        f"/v1/vacancies/{shop[State.DRAFT].pk}?preview={token_for(shop[State.DRAFT].pk)}",
    ]
    plain = [client.get(path) for path in paths]
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = DUTCH
    spoken = [client.get(path, headers={"accept-language": DUTCH}) for path in paths]

    assert [answer.content for answer in spoken] == [answer.content for answer in plain]
    assert [answer.headers for answer in spoken] == [answer.headers for answer in plain]


@pytest.mark.slow("many cases")
def test_commands_are_in_english_on_every_site(
    shop: dict[Any, Any], capsys: Any, settings: Any
) -> None:
    output = []
    for code in ("en", DUTCH):
        settings.LANGUAGE_CODE = code
        with translation.override(code):
            call_command("lint_vacancies")
        output.append(capsys.readouterr())

    assert output[0] == output[1]
    assert "the internal title is public and contains internal wording" in output[1].err
