"""The texts of the form of a vacancy in other languages.

Each language has a tab. Its fields are in the form only once it was opened, so that the page does
not grow with the languages. `Open` and `Copy` are buttons of the form, which come back with it.
"""

from collections.abc import Container, Iterable, Mapping
from copy import deepcopy
from typing import Any

from django import forms
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobsite.languages import site_language, text_languages
from jobsite.text.html import sanitise
from jobsite.text.iso_names import language_name
from vacancies.admin.edit.form_input import Input
from vacancies.fields import html_fields
from vacancies.history.versions import Content
from vacancies.models import TRANSLATED, TextState, Vacancy, text_field
from vacancies.models.vacancy_text import TEXTS, digest_of, texts_of
from vacancies.operations.texts import exchanged, unit

OPEN, COPY = "_open_text", "_copy_text"  # buttons
READY, CONFIRMED, EXCHANGE = "is_ready", "is_confirmed", "text_exchange"
WAYS = (
    ("exchange", gettext_lazy("Exchange the two texts")),
    ("delete", gettext_lazy("Delete the translation")),
)


def input_name(language: str, name: str) -> str:
    return f"{text_field(language)}-{name}"


def opened(data: Container[str]) -> list[str]:
    """Return the languages whose fields posted or stored input has."""
    return [code for code in text_languages() if input_name(code, "title") in data]


def stored_texts(vacancy: Vacancy | None) -> dict[str, Any]:
    """Return the texts of `vacancy` in other languages, as in a content, by language."""
    if vacancy is None or vacancy.pk is None or not text_languages():
        return {}
    return {each.language: each.content for each in vacancy.translations.all()}


def texts_in(content: Content) -> dict[str, Any]:
    """Return the texts of a content in other languages, by language."""
    return {code: text for code in text_languages() if (text := content.get(text_field(code)))}


def state_of(text: Mapping[str, Any] | None, digest: str) -> TextState:
    """Return the state of a text of a vacancy whose own texts have the `digest` now."""
    if not text:
        return TextState.MISSING
    if not text["is_ready"]:
        return TextState.UNFINISHED
    return TextState.READY if text["based_on"] == digest else TextState.OUTDATED


class TextForms:
    """The languages of the vacancy `form`, of which `languages` have fields. `texts` are what they
    start with, by language.
    """

    def __init__(self, form: Any, languages: Iterable[str], texts: Mapping[str, Any]) -> None:
        self.form, self.texts = form, texts
        self.own = form.initial.get("language") or site_language()
        # Of what is stored: the form changes its instance.
        started = texts_of(form.instance) if form.instance.pk else form.initial
        self.digest = digest_of(started)
        others = [code for code in text_languages() if code != self.own]
        self.offered = others if "title" in form.fields else []
        self.languages = [code for code in languages if code in text_languages()]
        for code in self.languages if self.offered else ():
            self._add_fields(code)
        if self.own_is_taken():
            # What is not in one of the languages of texts cannot become a translation.
            form.fields[EXCHANGE] = forms.ChoiceField(
                label=_("There is a translation into this language"),
                choices=WAYS if self.own in text_languages() else WAYS[1:],
                widget=forms.RadioSelect,
                error_messages={"required": _("Choose what happens to the translation.")},
            )

    def own_is_taken(self) -> bool:
        """Whether the posted language of the vacancy is that of a stored translation."""
        data = self.form.data
        wanted = (data["language"] or site_language()) if "language" in data else self.own
        return wanted != self.own and wanted in self.texts

    def _add_fields(self, code: str) -> None:
        fields, text = self.form.fields, self.texts.get(code)
        for name in TRANSLATED:
            field = deepcopy(fields[name])
            field.required, field.help_text = False, ""
            field.label = f"{capfirst(field.label)} ({language_name(code)})"
            fields[input_name(code, name)] = field
            self.form.initial[input_name(code, name)] = text["texts"].get(name, "") if text else ""
        fields[input_name(code, READY)] = forms.BooleanField(
            label=_("Ready: readers get these texts"),
            required=False,
            initial=bool(text and text["is_ready"]),
        )
        if self.state(code) == TextState.OUTDATED:
            fields[input_name(code, CONFIRMED)] = forms.BooleanField(
                label=_("Up to date: the translation fits the texts as they are now"),
                required=False,
            )

    def state(self, code: str) -> TextState:
        return state_of(self.texts.get(code), self.digest)

    def content(self, values: Content) -> Content:
        """Return the texts that the valid form has, for a content with `values`."""
        data = self.form.cleaned_data
        found: Content = {}
        for code in self.languages if self.offered else ():
            texts = TEXTS.cleaned({name: data[input_name(code, name)] for name in TRANSLATED})
            before, is_ready = self.texts.get(code) or {}, data[input_name(code, READY)]
            is_same = before.get("texts") == texts
            # Whoever changes an outdated text has not said that all of it is right now.
            is_kept = is_same or self.state(code) == TextState.OUTDATED
            is_kept = is_kept and not data.get(input_name(code, CONFIRMED))
            based_on = before.get("based_on", "") if is_kept else ""
            found[text_field(code)] = {"texts": texts, "is_ready": is_ready, "based_on": based_on}
        code = values.get("language") or site_language()
        if data.get(EXCHANGE) == "delete":
            return found | {text_field(code): None}
        if data.get(EXCHANGE) == "exchange":
            text = found.get(text_field(code)) or self.texts[code]
            whole = {**values, **found, "language": self.own, text_field(code): text}
            whole = exchanged(whole, code)
            return {name: whole[name] for name in {*found, *unit()} if name in whole}
        return found

    # --- the page ---

    def tabs(self) -> list[dict[str, Any]]:
        """Return what the page shows of each language: its state, and if it is open, its fields
        beside the texts of the vacancy, then the `others`, which the vacancy does not have.
        """
        return [
            {
                "code": code,
                "name": capfirst(language_name(code)),
                "state": self.state(code),
                **(self._fields(code) if code in self.languages else {}),
            }
            for code in self.offered
        ]

    def _fields(self, code: str) -> dict[str, Any]:
        form, rows, others = self.form, [], []
        for name in TRANSLATED:
            original, field = form[name], form[input_name(code, name)]
            value = original.value() or ""
            if value or field.value():
                is_html = name in html_fields(Vacancy)
                shown = SafeString(sanitise(value)) if is_html else value
                rows.append((original.label, shown or "-", field))
            else:
                others.append(field)
        checks = (input_name(code, name) for name in (READY, CONFIRMED))
        return {
            "is_open": True,
            "rows": rows,
            "others": others,
            "checks": [form[name] for name in checks if name in form.fields],
            "errors": form.is_bound
            and sum(name.startswith(text_field(code)) for name in form.errors),
        }


def reworked(data: Input, post: Mapping[str, str], texts: Mapping[str, Any]) -> Input | None:
    """Return the posted `data` with the fields of the language whose button was pressed, None if it
    was another button. `texts` are the stored ones, by language.
    """
    code = post.get(OPEN) or post.get(COPY) or ""
    if code not in text_languages():
        return None
    result = dict(data)
    if code not in opened(data):
        text = texts.get(code) or {"texts": {}, "is_ready": False}
        result |= {input_name(code, name): [text["texts"].get(name, "")] for name in TRANSLATED}
        result |= {input_name(code, READY): ["on"]} if text["is_ready"] else {}
    if COPY in post:
        for name in TRANSLATED:
            if not "".join(result[input_name(code, name)]).strip():
                result[input_name(code, name)] = data.get(name, [""])
    return result
