"""The texts of a vacancy in other languages than its own."""

from collections.abc import Mapping
from copy import copy
from hashlib import md5

from django.db import models
from django.db.models import Case, Q, Value, When
from django.db.models.functions import MD5, Cast, Concat
from django.utils.translation import gettext_lazy as _

from jobsite.languages import text_languages
from jobsite.types import JsonObject
from vacancies.choices import LANGUAGES, language_choices
from vacancies.fields import TextsField, html_fields
from vacancies.models.vacancy import Vacancy

TRANSLATED = ("title", "title_internal", *html_fields(Vacancy))


TEXT = models.TextField()
TEXTS = TextsField(
    _("texts"), columns=[each for each in Vacancy._meta.fields if each.name in TRANSLATED]
)


class TextState(models.TextChoices):
    """What a language of a vacancy is for recruiters. Readers get the last two."""

    MISSING = "missing", _("missing")
    UNFINISHED = "unfinished", _("unfinished")
    READY = "ready", _("ready")
    OUTDATED = "outdated", _("outdated")


class VacancyTextQuerySet(models.QuerySet):
    def outdated(self) -> "VacancyTextQuerySet":
        """Ready ones whose vacancy has other texts now than when they were marked ready."""
        parts = (
            Case(
                When(**{f"vacancy__{name}": ""}, then=Value("")),
                default=Concat(
                    Value(f"{name}:"),
                    Cast(f"vacancy__{name}", TEXT),
                    Value("\x1f"),
                    output_field=TEXT,
                ),
                output_field=TEXT,
            )
            for name in TRANSLATED
        )
        return self.filter(is_ready=True).exclude(based_on=MD5(Concat(*parts, output_field=TEXT)))


class VacancyText(models.Model):
    """The texts of a vacancy in a language other than its own."""

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.CASCADE, related_name="translations", verbose_name=_("vacancy")
    )
    language = models.CharField(_("language"), max_length=2, choices=language_choices)
    texts = TEXTS
    is_ready = models.BooleanField(_("ready"), default=False)
    based_on = models.CharField(max_length=32, default="", editable=False)

    objects = VacancyTextQuerySet.as_manager()

    class Meta:
        verbose_name = _("translation of a vacancy")
        verbose_name_plural = _("translations of vacancies")
        constraints = [
            models.UniqueConstraint(fields=["vacancy", "language"], name="text_once_per_language"),
            models.CheckConstraint(condition=Q(language__in=LANGUAGES), name="text_language_known"),
        ]

    def __str__(self) -> str:
        return str(self.texts.get("title", ""))

    @property
    def content(self) -> JsonObject:
        """Its value in the content of the vacancy."""
        return {"texts": self.texts, "is_ready": self.is_ready, "based_on": self.based_on}


def text_field(language: str) -> str:
    """Return the name of the texts in `language` in the content of a vacancy."""
    return f"text_{language}"


def text_fields() -> list[str]:
    return [text_field(code) for code in text_languages()]


def texts_of(vacancy: Vacancy) -> dict[str, str]:
    """Return the texts of `vacancy` in its own language, without empty ones."""
    return {name: text for name in TRANSLATED if (text := getattr(vacancy, name))}


def digest_of(texts: Mapping[str, str]) -> str:
    """Return the `based_on` of a translation of `texts`: `VacancyTextQuerySet.outdated` is the same
    in SQL. An empty text adds nothing, so that a new kind of text changes no digest.
    """
    joined = "".join(f"{name}:{texts[name]}\x1f" for name in TRANSLATED if texts.get(name))
    return md5(joined.encode(), usedforsecurity=False).hexdigest()


def missing_texts(texts: Mapping[str, str], original: Mapping[str, str]) -> list[str]:
    """Return the names of the texts that a translation needs, and `texts` lacks: the title, and
    what `original` has.
    """
    return [
        name
        for name in TRANSLATED
        if (name == "title" or original.get(name)) and not texts.get(name)
    ]


def ready_texts(vacancy: Vacancy) -> dict[str, dict[str, str]]:
    """Return what readers get of `vacancy` in other languages than its own: the ready texts by
    language, in the order of the languages. Requires `with_related()`.
    """
    if not (languages := text_languages()):
        return {}
    ready = {each.language: each.texts for each in vacancy.translations.all() if each.is_ready}
    return {
        code: ready[code] for code in languages if code in ready.keys() - {vacancy.shown_language}
    }


def languages_of(vacancy: Vacancy) -> list[str]:
    """Return the languages in which `vacancy` can be read, its own first."""
    original = vacancy.translated_from or vacancy
    return [original.shown_language, *ready_texts(original)]


def shown_in(vacancy: Vacancy, language: str) -> Vacancy:
    """Return `vacancy` with all its texts in `language`, as a copy that is not to be saved, or as it
    is if there are no ready ones: never a mixture. Requires `with_related()`.
    """
    if not language or (texts := ready_texts(vacancy).get(language)) is None:
        return vacancy
    translated = copy(vacancy)
    for name in TRANSLATED:
        setattr(translated, name, texts.get(name, ""))
    translated.language, translated.translated_from = language, vacancy
    return translated
