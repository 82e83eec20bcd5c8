"""Approval by a second person before something becomes public (docs/decisions.md #188)."""

from collections.abc import Collection
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from vacancies.choices import State
from vacancies.models.catalogue import Brand
from vacancies.models.vacancy import Vacancy
from vacancies.querysets import VacancyQuerySet

APPROVE = "vacancies.approve_vacancy"
PUBLIC = (State.PUBLISHED, State.SCHEDULED)
# Fields of a public vacancy that may change without approval.
FREE_FIELDS = frozenset({"publish_until", "last_day", "is_hot", "applications_kept_days"})


def needs_approval(
    *, before: Vacancy | None, after: Vacancy, changed: Collection[str] = (), at: datetime
) -> bool:
    """Return whether saving `after` would make something public at `at` that needs approval.

    That is a vacancy that was not public or scheduled, or a change of one of the fields `changed`,
    except FREE_FIELDS. `before` is the stored vacancy, None for a new one. Every writer asks this
    function.
    """
    if after.state_at(at) not in PUBLIC:
        return False
    if before is not None and before.state_at(at) in PUBLIC and FREE_FIELDS.issuperset(changed):
        return False
    brands = (vacancy.brand for vacancy in (before, after) if vacancy is not None)
    return any(brand is not None and brand.requires_approval for brand in brands)


class ApprovalQuerySet(models.QuerySet):
    def waiting(self) -> Self:
        return self.filter(outcome=Approval.Outcome.WAITING)


class Approval(models.Model):
    """A request to publish a vacancy or to change a public one, and its decision. Like versions, it
    is kept when the vacancy is deleted.
    """

    class Outcome(models.TextChoices):
        WAITING = "waiting", _("Waiting for approval")
        APPROVED = "approved", pgettext_lazy("a request", "Approved")
        SENT_BACK = "sent_back", pgettext_lazy("a request", "Sent back")
        WITHDRAWN = "withdrawn", pgettext_lazy("a request", "Withdrawn")
        REPLACED = "replaced", pgettext_lazy("a request", "Replaced by a later request")

    class Emailed(models.TextChoices):
        NOTHING = "", "-"
        SUBMITTED = "submitted", "submitted"
        ALL = "all", "all"

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, related_name="approvals"
    )
    # For access by brand, as in Version.
    brand = models.ForeignKey(Brand, on_delete=models.SET_NULL, null=True, related_name="+")
    # The fields that the approval changes, in the format of Version.content.
    changes = models.JSONField(default=dict)
    note = models.TextField(max_length=2000, blank=True, default="")
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    submitted_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.WAITING)
    decision_note = models.TextField(max_length=2000, blank=True, default="")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)
    # Which emails about it are queued. The dispatcher of emails reads and sets it.
    emailed = models.CharField(
        max_length=10, choices=Emailed.choices, default=Emailed.NOTHING, blank=True, db_index=True
    )

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        verbose_name = _("approval request")
        verbose_name_plural = _("approval requests")
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["vacancy"], condition=Q(outcome="waiting"), name="one_waiting_approval"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_outcome_display()}: {self.vacancy_id}"


def waiting_for_approval(vacancies: VacancyQuerySet) -> VacancyQuerySet:
    """Return the `vacancies` that wait for approval.
    Requests of a brand without approval do not count.
    """
    waiting = Approval.objects.waiting().values("vacancy")
    return vacancies.filter(pk__in=waiting, brand__requires_approval=True)
