"""Content warnings: likely mistakes in vacancies, which do not prevent publication."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import (
    Count,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
)
from django.db.models.expressions import NegatedExpression
from django.db.models.functions import Length, Lower, Upper
from django.utils.translation import gettext_lazy as _

from forms_structure.models import Form
from jobsite.days import days_after
from jobsite.languages import stated, text_languages
from jobsite.text.gender import BOTH_GENDERS, CAPITAL_I, ONE_GENDER
from jobsite.types import StrOrPromise
from vacancies.models import Vacancy, VacancyOption, VacancyText
from vacancies.quality.google import (
    IS_A_JOB,
    LACKS_PLACE,
    REQUIRED_BY_GOOGLE,
    has_place,
    missing_for_google,
    with_missing_for_google,
)
from vacancies.querysets import VacancyList, VacancyQuerySet, in_state

SOON = 7  # days
OUTDATED = "outdated-text"
# Whole words that do not belong in title_internal, which is public, in the languages of the admin.
INTERNAL_WORDS = (
    "internal",
    "internal only",
    "confidential",
    "not public",
    "do not publish",
    "intern gebruik",
    "alleen intern",
    "enkel intern",
    "vertrouwelijk",
    "niet publiceren",
    "usage interne",
    "confidentiel",
    "ne pas publier",
    "nur intern",
    "vertraulich",
    "nicht veröffentlichen",
    "budget",
    "tbd",
    "todo",
    "xxx",
)


@dataclass(frozen=True)
class ContentWarning:
    """A likely mistake that does not prevent publication: `label` for the list of vacancies, `text`
    for one vacancy, and the `condition` on vacancies at a given time. `is_of_facts`: only machines
    miss something, so a page with many vacancies lists it apart. After an upgrade, every vacancy
    has such a warning.
    """

    code: str
    label: StrOrPromise
    text: StrOrPromise
    condition: Callable[[datetime], Q | NegatedExpression]
    is_error: bool = False
    is_of_facts: bool = False


def _choices() -> QuerySet[VacancyOption]:
    return VacancyOption.objects.filter(vacancy=OuterRef("pk"))


def _in_capitals(at: datetime) -> Q:
    return Q(title=Upper("title"), title_length__gt=3) & ~Q(title=Lower("title"))


def _names_one_gender(at: datetime) -> Q:
    found = Q()
    for language, words in ONE_GENDER.items():
        found |= Q(language__in=stated(language), title__iregex=words)
    return found & ~Q(title__iregex=BOTH_GENDERS) & ~Q(title__regex=CAPITAL_I)


def _has_outdated_text(at: datetime) -> Q:
    texts = VacancyText.objects.filter(vacancy=OuterRef("pk"), language__in=text_languages())
    return Q(Exists(texts.outdated())) if text_languages() else Q(pk__in=[])


CONTENT_WARNINGS = (
    ContentWarning(
        "no-description",
        _("No description"),
        _("has no description"),
        lambda at: Q(description=""),
        is_error=True,
    ),
    ContentWarning(
        "no-image", _("No image"), _("has no image"), lambda at: Q(image="", image_url="")
    ),
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
        "one-gender",
        _("One gender in the title"),
        _(
            "the title names one gender only; (m/w/d), (H/F) or (m/v/x) after it addresses "
            "everybody"
        ),
        _names_one_gender,
    ),
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
    ContentWarning(
        "no-applications",
        _("Nobody can apply"),
        _("nobody can apply, because the form does not ask for the applicant’s e-mail address"),
        lambda at: (
            Q(apply_url="") & (Q(served_form_id=None) | ~Q(served_form_id__in=_accepting_forms()))
        ),
    ),
    ContentWarning(
        OUTDATED,
        _("Outdated translation"),
        _("a translation is older than the texts"),
        _has_outdated_text,
    ),
    ContentWarning(
        "no-pay",
        _("No pay, but its country requires it"),
        _("has no pay, but the law of its country requires it"),
        lambda at: Q(pay_min=None, pay_max=None) & has_place(country__in=settings.PAY_REQUIRED_IN),
    ),
    ContentWarning(
        "not-for-google",
        _("Not shown by Google"),
        _("is not shown by Google, which requires %(missing)s"),
        # One that lacks only a description has the warning of that.
        lambda at: VacancyList.EXTERNAL.condition & LACKS_PLACE & IS_A_JOB,
        is_of_facts=True,
    ),
    # Without an option it has the warning of that.
    ContentWarning(
        "no-employment-type",
        _("No employment type"),
        _("none of its options has an employment type, such as full-time"),
        lambda at: (
            VacancyList.EXTERNAL.condition
            & Exists(_choices())
            & ~Exists(_choices().exclude(option__employment_type=""))
        ),
        is_of_facts=True,
    ),
)


def _accepting_forms() -> QuerySet:
    return Form.objects.accepting_applications().values("pk")


def _prepared(vacancies: VacancyQuerySet) -> VacancyQuerySet:
    """Return `vacancies` with what the conditions of the warnings refer to."""
    return vacancies.alias(title_length=Length("title")).with_form()


def closing_soon(*, at: datetime) -> Q:
    """The condition for published vacancies that close within a week."""
    return in_state("published", at=at) & Q(publish_until__lte=days_after(at, SOON))


def filter_by_warning(vacancies: VacancyQuerySet, code: str, *, at: datetime) -> VacancyQuerySet:
    """Return the published and scheduled `vacancies` that have the warning `code`."""
    [warning] = [warning for warning in CONTENT_WARNINGS if warning.code == code]
    return _prepared(vacancies).visible(at=at).filter(warning.condition(at))


def with_warnings(vacancies: VacancyQuerySet, *, at: datetime) -> VacancyQuerySet:
    """Annotate `vacancies` for `content_warnings`."""
    columns = {
        _column(warning): ExpressionWrapper(
            Q(warning.condition(at)), output_field=models.BooleanField()
        )
        for warning in CONTENT_WARNINGS
    }
    return with_missing_for_google(_prepared(vacancies).annotate(**columns))


def count_warnings(vacancies: VacancyQuerySet, *, at: datetime) -> dict[int | None, dict[str, int]]:
    """Return the number of published and scheduled `vacancies` with each warning, by brand and
    code. One query reads each of these vacancies. Warnings about facts join other tables and have a
    query each.
    """
    visible = vacancies.visible(at=at).order_by()
    rows = _prepared(visible).values("brand_id")
    plain = [warning for warning in CONTENT_WARNINGS if not warning.is_of_facts]
    columns = {_column(warning): Count("pk", filter=warning.condition(at)) for warning in plain}
    found = {
        row["brand_id"]: {warning.code: row[_column(warning)] for warning in plain}
        for row in rows.annotate(**columns)
    }
    for warning in CONTENT_WARNINGS:
        if warning.is_of_facts:
            facts = visible.filter(warning.condition(at)).values("brand_id")
            for row in facts.annotate(count=Count("pk")):
                found.setdefault(row["brand_id"], {})[warning.code] = row["count"]
    return found


def _column(warning: ContentWarning) -> str:
    return f"warning_{warning.code.replace('-', '_')}"


def content_warnings(vacancy: Vacancy) -> list[ContentWarning]:
    """Return the warnings about `vacancy`, in any state. Requires `with_warnings()`."""
    found = [warning for warning in CONTENT_WARNINGS if getattr(vacancy, _column(warning))]
    missing = {
        "missing": ", ".join(
            str(REQUIRED_BY_GOOGLE[name][0]) for name in missing_for_google(vacancy)
        )
    }
    return [
        replace(warning, text=warning.text % missing)
        if warning.code == "not-for-google"
        else warning
        for warning in found
    ]
