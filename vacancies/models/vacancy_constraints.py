"""What the database checks of a vacancy, and its indexes."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper
from django.utils.translation import gettext_lazy as _

from vacancies.choices import LANGUAGES, Audience, PayPeriod, VacancyStatus, WorkPlace

REFERENCE_TAKEN = _("Another vacancy of this brand has this reference.")
CONSTRAINTS: list[models.BaseConstraint] = [
    models.CheckConstraint(
        condition=~Q(status="published")
        | Q(publish_from__isnull=False, head_recruiter__isnull=False),
        name="published_has_start_and_head",
        violation_error_message=_(
            "A published vacancy needs a lead recruiter and a publication date."
        ),
    ),
    models.CheckConstraint(
        condition=Q(publish_until__isnull=True) | Q(publish_until__gt=F("publish_from")),
        name="until_after_from",
        violation_error_message=_("The vacancy would close before it goes live."),
    ),
    models.CheckConstraint(condition=Q(audience__in=Audience.values), name="audience_known"),
    models.CheckConstraint(condition=Q(status__in=VacancyStatus.values), name="status_known"),
    models.UniqueConstraint(
        fields=["brand", "reference"],
        condition=~Q(reference=""),
        name="reference_once_per_brand",
        violation_error_message=REFERENCE_TAKEN,
    ),
    models.UniqueConstraint(
        fields=["reference"],
        condition=Q(brand=None) & ~Q(reference=""),
        name="reference_once_without_brand",
        violation_error_message=REFERENCE_TAKEN,
    ),
    models.CheckConstraint(condition=Q(language__in=["", *LANGUAGES]), name="language_known"),
    models.CheckConstraint(
        condition=Q(work_place__in=["", *WorkPlace.values]), name="work_place_known"
    ),
    models.CheckConstraint(
        condition=Q(pay_period__in=["", *PayPeriod.values]), name="pay_period_known"
    ),
    models.CheckConstraint(
        condition=(Q(pay_min=None) | Q(pay_min__gte=0))
        & (Q(pay_max=None) | Q(pay_max__gte=0))
        & (Q(pay_min=None) | Q(pay_max=None) | Q(pay_max__gte=F("pay_min"))),
        name="pay_range",
        violation_error_message=_("The highest pay is below the lowest."),
    ),
    models.CheckConstraint(
        condition=Q(pay_min=None, pay_max=None, pay_currency="", pay_period="")
        | (~Q(pay_min=None, pay_max=None) & ~Q(pay_currency="") & ~Q(pay_period="")),
        name="pay_complete",
        violation_error_message=_(
            "Pay needs an amount, a currency and a period. Without an amount, leave all empty."
        ),
    ),
]
INDEXES = [
    models.Index(
        F("publish_from").desc(),
        F("id").desc(),
        condition=Q(status="published"),
        name="published_newest",
    ),
    models.Index("publish_until", condition=Q(status="published"), name="published_until"),
    # For the admin: unpublished vacancies, and published ones with a content warning.
    *(
        models.Index(F("id").desc(), condition=Q(status=status), name=f"{status}_newest")
        for status in ("draft", "unpublished", "archived")
    ),
    models.Index(
        "publish_until",
        condition=Q(status="published", description=""),
        name="published_without_text",
    ),
    models.Index(
        "publish_until",
        condition=Q(status="published", is_permanent=True, publish_until__isnull=False),
        name="published_permanent_ends",
    ),
    models.Index(
        "publish_until",
        condition=Q(status="published", title=Upper("title")),
        name="published_in_capitals",
    ),
    models.Index(fields=["image"], name="vacancy_image"),  # vacancies/media looks up files
]
