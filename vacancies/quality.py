"""What is wrong or doubtful about vacancies and brands before somebody outside notices."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.db.models import Exists, ExpressionWrapper, OuterRef, Q
from django.db.models.expressions import NegatedExpression
from django.db.models.functions import Length, Lower, Upper
from django.utils.translation import gettext_lazy as _

from jobsite.days import days_after
from jobsite.html import sanitise
from vacancies.fields import FoldedField, HtmlField, html_fields
from vacancies.models import Brand, State, Vacancy, VacancyOption
from vacancies.querysets import VacancyQuerySet

SOON = 7  # days
# In a title that is public, whatever its name says; words as a whole, in the languages of the workplace.
INTERNAL_WORDS = (
    "internal", "internal only", "confidential", "not public", "do not publish", "intern gebruik",
    "alleen intern", "enkel intern", "vertrouwelijk", "niet publiceren", "usage interne", "confidentiel",
    "ne pas publier", "nur intern", "vertraulich", "nicht veröffentlichen", "budget", "tbd", "todo", "xxx",
)  # fmt: skip


@dataclass(frozen=True)
class ContentWarning:
    """Something that is allowed to go out and rarely meant: what it is called in the list of vacancies,
    what is said of one, and which ones it is about at a moment."""

    code: str
    label: Any
    text: Any
    condition: Callable[[datetime], Q | NegatedExpression]
    is_error: bool = False


def _in_capitals(at: datetime) -> Q:
    return Q(title=Upper("title"), title_length__gt=3) & ~Q(title=Lower("title"))


CONTENT_WARNINGS = (
    ContentWarning(
        "no-description",
        _("No description"),
        _("has no description"),
        lambda at: Q(description=""),
        is_error=True,
    ),
    ContentWarning("no-image", _("No image"), _("has no image"), lambda at: Q(image="", image_url="")),
    ContentWarning(
        "unreachable",
        _("No contact information"),
        _("has no contact text, and the lead recruiter has no public contact details"),
        lambda at: (
            Q(contact="")
            & (Q(head_recruiter__is_email_public=False) | Q(head_recruiter__email=""))
            & (Q(head_recruiter__is_phone_public=False) | Q(head_recruiter__phone=""))
        ),
    ),
    ContentWarning(
        "hot-ending",
        _("Featured, but closing soon"),
        _("is featured, but closes within a week"),
        lambda at: Q(is_hot=True, publish_until__lt=days_after(at, SOON)),
    ),
    ContentWarning(
        "permanent-ends",
        _("Continuously open, but with a closing date"),
        _("is continuously open, but has a closing date"),
        lambda at: Q(is_permanent=True, publish_until__isnull=False),
    ),
    ContentWarning("capitals", _("Title in capitals"), _("the title is in capitals"), _in_capitals),
    ContentWarning(
        "internal-words",
        _("Internal wording in the internal title"),
        _("the internal title is public and contains internal wording"),
        lambda at: Q(title_internal__iregex=rf"(^|[^a-z])({'|'.join(INTERNAL_WORDS)})([^a-z]|$)"),
    ),
    ContentWarning(
        "no-options",
        _("No filter options"),
        _("has no options, so no filter finds it"),
        lambda at: ~Exists(VacancyOption.objects.filter(vacancy=OuterRef("pk"))),
    ),
)


def filter_by_warning(vacancies: VacancyQuerySet, code: str, *, at: datetime) -> VacancyQuerySet:
    """Those of `vacancies` that are or will be public with the doubt `code` about them."""
    [warning] = [warning for warning in CONTENT_WARNINGS if warning.code == code]
    return vacancies.alias(title_length=Length("title")).shown(at=at).filter(warning.condition(at))


def with_warnings(vacancies: VacancyQuerySet, *, at: datetime) -> VacancyQuerySet:
    """Each with what `doubts` needs to know."""
    marks = {
        _column(warning): ExpressionWrapper(Q(warning.condition(at)), output_field=models.BooleanField())
        for warning in CONTENT_WARNINGS
    }
    return vacancies.alias(title_length=Length("title")).annotate(**marks)


def _column(warning: ContentWarning) -> str:
    return f"warning_{warning.code.replace('-', '_')}"


def content_warnings(vacancy: Vacancy) -> list[ContentWarning]:
    """What there is to doubt about `vacancy`, wherever it stands; needs `with_warnings()`."""
    return [warning for warning in CONTENT_WARNINGS if getattr(vacancy, _column(warning))]


RULES = (
    *("unclean", "hot-expired", "no-head-recruiter", "no-brand", "no-slug", "double-escaped"),
    *(warning.code for warning in CONTENT_WARNINGS),
)


@dataclass
class Finding:
    """One remark; an error is something that the public already gets wrong, or will."""

    kind: str  # "vacancy" or "brand"
    id: int
    name: str
    is_error: bool
    code: str
    text: str

    def __str__(self) -> str:
        level = "error" if self.is_error else "warning"
        return f"{level}: {self.kind} {self.id} {self.name!r}: {self.text} [{self.code}]"


def about_brand(brand: Brand) -> Iterator[Finding]:
    """Yield what there is to say about `brand`."""
    if unclean := unclean_fields(brand):
        text = f"stored otherwise than it would be saved now: {', '.join(unclean)}"
        yield Finding("brand", brand.pk, brand.name, True, "unclean", text)


def about_vacancy(vacancy: Vacancy, *, at: datetime) -> Iterator[Finding]:
    """Yield what there is to say about `vacancy` at the moment `at`; needs `with_warnings()`."""
    state = vacancy.state_at(at)
    is_shown = state in (State.PUBLISHED, State.SCHEDULED)

    def say(code: str, text: str, *, error: bool = False) -> Finding:
        return Finding("vacancy", vacancy.pk, vacancy.title, error, code, text)

    if unclean := unclean_fields(vacancy):
        text = f"stored otherwise than it would be saved now: {', '.join(unclean)}"
        yield say("unclean", text, error=is_shown)
    if not is_shown:
        if state is State.EXPIRED and vacancy.is_hot:
            yield say("hot-expired", "still flagged hot, but expired")
        return
    for name, text in vacancy.missing_to_publish().items():
        yield say(f"no-{name.replace('_', '-')}", text, error=True)
    for warning in content_warnings(vacancy):
        yield say(warning.code, str(warning.text), error=warning.is_error)
    if vacancy.slug == f"({vacancy.pk})":
        yield say("no-slug", "no letter of the title can stand in its address")
    for name in html_fields(Vacancy):
        text = getattr(vacancy, name)
        if "&amp;lt;" in text or "&amp;nbsp;" in text:
            yield say("double-escaped", f"{name} shows markup as text: it was escaped twice")


def unclean_fields(instance: models.Model) -> list[str]:
    """Return the fields that do not hold what saving would put there (rows written around the models)."""
    unclean = []
    for field in instance._meta.fields:
        stored = getattr(instance, field.attname)
        if isinstance(field, HtmlField) and sanitise(stored) != stored:
            unclean.append(field.name)
        elif isinstance(field, FoldedField) and field.pre_save(instance, add=False) != stored:
            setattr(instance, field.attname, stored)
            unclean.append(field.name)
    return unclean


def clean(instance: models.Model, *, at: datetime) -> None:
    """Save the unclean fields of `instance` and nothing else, as the row is now."""
    with transaction.atomic():
        row = type(instance)._default_manager.select_for_update().get(pk=instance.pk)
        names = unclean_fields(row)
        if isinstance(row, Vacancy) and set(names) & set(html_fields(Vacancy)):
            row.updated_at = at  # the public sees another text
            names.append("updated_at")
        row.save(update_fields=names)
