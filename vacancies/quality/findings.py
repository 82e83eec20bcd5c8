"""The checks of `lint_vacancies`: errors in vacancies and brands, and the content warnings."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import models, transaction

from jobsite.text.html import sanitise
from jobsite.text.iso_names import language_name
from vacancies.choices import State
from vacancies.fields import FoldedField, HtmlField, SlugFromField, html_fields
from vacancies.models import Brand, Vacancy
from vacancies.quality.warnings import CONTENT_WARNINGS, content_warnings

RULES = (
    *(
        "unclean",
        "hot-expired",
        "no-head-recruiter",
        "no-brand",
        "no-slug",
        "double-escaped",
        "language",
    ),
    *(warning.code for warning in CONTENT_WARNINGS),
)


@dataclass
class QualityFinding:
    """One result of the checks. An error is visible to the public, or will be."""

    kind: str  # "vacancy" or "brand"
    id: int
    name: str
    is_error: bool
    code: str
    text: str

    def __str__(self) -> str:
        level = "error" if self.is_error else "warning"
        return f"{level}: {self.kind} {self.id} {self.name!r}: {self.text} [{self.code}]"


def about_brand(brand: Brand) -> Iterator[QualityFinding]:
    """Yield the findings about `brand`."""
    if unclean := unclean_fields(brand):
        text = f"not stored as it would be saved now: {', '.join(unclean)}"
        yield QualityFinding("brand", brand.pk, brand.name, True, "unclean", text)


def about_vacancy(vacancy: Vacancy, *, at: datetime) -> Iterator[QualityFinding]:
    """Yield the findings about `vacancy` at `at`. Requires `with_warnings()`."""
    state = vacancy.state_at(at)
    is_shown = state in (State.PUBLISHED, State.SCHEDULED)

    def finding(code: str, text: str, *, error: bool = False) -> QualityFinding:
        return QualityFinding("vacancy", vacancy.pk, vacancy.title, error, code, text)

    if unclean := unclean_fields(vacancy):
        text = f"not stored as it would be saved now: {', '.join(unclean)}"
        yield finding("unclean", text, error=is_shown)
    if not is_shown:
        if state is State.EXPIRED and vacancy.is_hot:
            yield finding("hot-expired", "hot, but expired")
        return
    for name, text in vacancy.missing_to_publish().items():
        yield finding(f"no-{name.replace('_', '-')}", text, error=True)
    for warning in content_warnings(vacancy):
        yield finding(warning.code, str(warning.text), error=warning.is_error)
    for code, text in _about_texts(vacancy):
        yield finding(code, text)


def _about_texts(vacancy: Vacancy) -> Iterator[tuple[str, str]]:
    """Yield the code and the text of each finding about the texts of a vacancy."""
    language = vacancy.recognised_language()
    if language and language != vacancy.shown_language:
        looks, stated = (language_name(code, "en") for code in (language, vacancy.shown_language))
        yield "language", f"the text looks {looks}, but the language is {stated}"
    if vacancy.slug == f"({vacancy.pk})":
        yield "no-slug", "the title has no letter that can be part of the slug"
    for name in html_fields(Vacancy):
        text = getattr(vacancy, name)
        if "&amp;lt;" in text or "&amp;nbsp;" in text:
            yield "double-escaped", f"{name} shows markup as text, because it was escaped twice"


def unclean_fields(instance: models.Model) -> list[str]:
    """Return the fields whose stored value differs from what a save would
    write, as after raw SQL.
    """
    unclean = []
    for field in instance._meta.fields:
        stored = getattr(instance, field.attname)
        if isinstance(field, HtmlField) and sanitise(stored) != stored:
            unclean.append(field.name)
        elif isinstance(field, FoldedField) and field.pre_save(instance, add=False) != stored:
            setattr(instance, field.attname, stored)
            unclean.append(field.name)
        elif isinstance(field, SlugFromField) and not stored:
            unclean.append(field.name)
    return unclean


def clean(instance: models.Model, *, at: datetime) -> None:
    """Save the unclean fields of the current row of `instance`, and no others."""
    with transaction.atomic():
        row = type(instance)._default_manager.select_for_update().get(pk=instance.pk)
        names = unclean_fields(row)
        if isinstance(row, Vacancy) and set(names) & set(html_fields(Vacancy)):
            row.updated_at = at  # the public text changes
            names.append("updated_at")
        row.save(update_fields=names)
