"""The texts of a content in other languages than that of the vacancy: what a writer may store."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from jobsite.languages import site_language, text_languages
from jobsite.text.iso_names import language_name
from vacancies.history.versions import Content
from vacancies.models import TRANSLATED, Vacancy, text_field, text_fields
from vacancies.models.vacancy_text import TEXTS, digest_of, missing_texts


def unit() -> list[str]:
    """Return the fields that change together if the languages of a vacancy are exchanged."""
    return ["language", *TRANSLATED, *text_fields()]


def original_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a content in its own language."""
    return {name: text for name in TRANSLATED if (text := content.get(name))}


def cleaned_texts(wanted: Content, seen: Mapping[str, Any]) -> Content:
    """Return the texts of `wanted` in other languages as they are stored; nothing is left of empty
    ones. A ready one without `based_on` was marked ready beside the texts of `seen`. Raises
    ValidationError.
    """
    found: Content = {}
    for name in map(text_field, text_languages()):
        if name not in wanted:
            continue
        text = wanted[name] or {}
        try:
            texts = TEXTS.cleaned(text.get("texts", {}))
        except ValidationError as error:
            raise ValidationError({name: error.messages}) from error
        is_ready = bool(text.get("is_ready"))
        based_on = (text.get("based_on") or digest_of(original_of(seen))) if is_ready else ""
        found[name] = (
            {"texts": texts, "is_ready": is_ready, "based_on": based_on} if texts else None
        )
    return found


def unfinished(after: Content) -> Content:
    """Return the texts of `after` that are marked ready and are not complete, not marked. Raises
    ValidationError if one is in the language of the vacancy.
    """
    own, original, found = after.get("language") or site_language(), original_of(after), {}
    for language in text_languages():
        text = after.get(text_field(language))
        if text and language == own:
            reason = _(
                "The vacancy has a translation into %(language)s: exchange the texts, or delete "
                "the translation."
            )
            raise ValidationError({"language": reason % {"language": language_name(language)}})
        if text and text["is_ready"] and missing_texts(text["texts"], original):
            found[text_field(language)] = {**text, "is_ready": False, "based_on": ""}
    return found


def settle_texts(wanted: Content, before: Content, columns: Content) -> list[str]:
    """Switch off what `wanted` or the stored content `before` marks as ready and would not be
    complete. Return the notes on it. `columns` are those of the vacancy. Raises ValidationError.
    """
    if not text_languages():
        return []
    after = {**columns, **before, **wanted}
    found = unfinished(after)
    wanted |= found
    return [unfinished_note(code, after) for code in text_languages() if text_field(code) in found]


def crossing_texts(base: Mapping[str, Any], mine: Content, stored: Content) -> list[str]:
    """Return the texts that must not be merged: one side exchanged the languages of the vacancy,
    and the other one changed a text since. Joined, they would be a mixture.
    """
    if not text_languages():
        return []
    names = unit()
    sides = [
        {name for name in names if name in side and name in base and side[name] != base[name]}
        for side in (mine, stored)
    ]
    return sorted(set.union(*sides)) if all(sides) and "language" in set.union(*sides) else []


def crossing_requests(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> set[str]:
    """Return the texts of the request `earlier` that must not become part of the `later` one: one
    of the two exchanges the languages.
    """
    names = set(unit())
    one, other = names & earlier.keys(), names & later.keys()
    return one if text_fields() and one and other and "language" in one | other else set()


def unfinished_note(language: str, after: Content) -> str:
    """Return the sentence that a translation is not ready, and which texts it lacks."""
    missing = missing_texts(after[text_field(language)]["texts"], original_of(after))
    labels = (str(capfirst(Vacancy._meta.get_field(name).verbose_name)) for name in missing)  # type: ignore[union-attr]
    return _("%(language)s is not ready: %(texts)s is missing.") % {
        "language": capfirst(language_name(language)),
        "texts": ", ".join(labels),
    }


def exchanged(content: Content, language: str) -> Content:
    """Return `content` with the texts in `language` as its own, and its own as a translation."""
    own, text = content.get("language") or site_language(), content[text_field(language)]
    own_text = {"texts": original_of(content), "is_ready": True, "based_on": ""}
    return content | {
        **{name: text["texts"].get(name, "") for name in TRANSLATED},
        "language": language,
        text_field(language): None,
        text_field(own): own_text,
    }
