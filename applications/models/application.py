"""Applications, and their changes of stage."""

import secrets
from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from applications.models.stage import Reason, Stage, Status, stage_label
from applications.querysets import ApplicationQuerySet
from jobsite.days import days_after
from jobsite.languages import site_language
from vacancies.models import Vacancy, shown_in

if TYPE_CHECKING:
    from applications.models.history_entry import HistoryEntry


def new_reference() -> str:
    """Return a random reference. It has no letters that people confuse, and no words."""
    return "".join(secrets.choice("23456789BCDFGHJKLMNPQRSTVWXYZ") for _ in range(8))


class Application(models.Model):
    """A person's application to a vacancy.

    It belongs to an account (`user`), or to nobody until the applicant proves that the mailbox is
    theirs. An application that came through a form has a `submission`.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="applications",
        verbose_name=_("user"),
    )
    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.PROTECT, related_name="applications", verbose_name=_("vacancy")
    )
    # None for applications that did not come through a form.
    reference = models.CharField(max_length=12, unique=True, null=True, editable=False)  # noqa: DJ001 - unique
    given_name = models.CharField(
        max_length=200, blank=True, default="", db_default="", editable=False
    )
    family_name = models.CharField(
        max_length=200, blank=True, default="", db_default="", editable=False
    )
    email = models.EmailField(
        _("e-mail address"), blank=True, default="", db_default="", editable=False
    )
    email_folded = models.CharField(
        max_length=254, blank=True, default="", db_default="", editable=False
    )
    phone = models.CharField(
        _("phone"), max_length=200, blank=True, default="", db_default="", editable=False
    )
    # For comparison, see `phone_digits()`. None: inserted by SQL.
    phone_digits = models.CharField(max_length=9, null=True, blank=True, editable=False)  # noqa: DJ001
    # The same for applications that a colleague joined, because they are of one person: the id of
    # one of them.
    person = models.BigIntegerField(null=True, blank=True, editable=False)
    # the recruiter who looks after it
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
        verbose_name=_("assigned to"),
    )
    language = models.CharField(
        _("language"), max_length=2, default=site_language, db_default="", editable=False
    )
    is_spontaneous = models.BooleanField(_("open application"), default=False)
    # When it came in, there was one of the same person to the same brand.
    is_repeated = models.BooleanField(
        _("applied again"), default=False, db_default=False, editable=False
    )
    rating = models.PositiveSmallIntegerField(
        _("rating"), null=True, blank=True, choices=[(n, str(n)) for n in range(1, 6)]
    )
    # First opened by a recruiter.
    read_at = models.DateTimeField(null=True, blank=True, editable=False)
    verified_at = models.DateTimeField(
        null=True, blank=True, editable=False
    )  # the mailbox is the applicant's
    withdrawn_at = models.DateTimeField(_("withdrawn at"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("applied at"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now, editable=False)

    objects = ApplicationQuerySet.as_manager()

    # Annotated by `with_stage()` and `with_latest_change()`.
    stage_id: int | None
    stage_name: str | None
    change_id: int | None
    # Set by `with_visible_status()`.
    ordered_changes: "list[StageChange]"
    visible_history: "list[HistoryEntry]"

    class Meta:
        verbose_name = _("application")
        verbose_name_plural = _("applications")
        ordering = ["-created_at", "-pk"]
        permissions = [("export_application", "Exports applications")]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "vacancy", "created_at"], name="application_once"
            ),
        ]
        indexes = [
            models.Index("email_folded", name="applications_of_address"),
            models.Index("vacancy", F("created_at").desc(), name="applications_of_vacancy"),
            models.Index(
                "phone_digits", condition=Q(phone_digits__gt=""), name="applications_of_phone"
            ),
            models.Index(
                "person", condition=Q(person__isnull=False), name="applications_of_person"
            ),
            models.Index(Upper("family_name"), Upper("given_name"), name="applications_of_name"),
            models.Index(
                "vacancy",
                F("created_at").desc(),
                condition=Q(read_at=None),
                name="applications_unread",
            ),
        ]

    @property
    def vacancy_title(self) -> str:
        """The title of the vacancy in the language of the application, if it has a ready one."""
        return shown_in(self.vacancy, self.language).title

    def __str__(self) -> str:
        # without a name, because logs contain it
        return gettext("Applicant %(reference)s") % {"reference": self.reference or self.pk}

    @property
    def stage_label(self) -> str:
        """The current stage, in the user's language, "" without one or without `with_stage()`."""
        return stage_label(getattr(self, "stage_name", None) or "")

    @property
    def display_name(self) -> str:
        """The applicant's name, as the form or the account has it, else the user name or the
        address.
        """
        name = f"{self.given_name} {self.family_name}".strip()
        if not name and self.user:
            name = self.user.get_full_name() or self.user.get_username()
        return name or self.email or str(self)

    @property
    def address(self) -> str:
        """The applicant's e-mail address, as the form or the account has it."""
        return self.email or (self.user.email if self.user else "")

    def visible_stage(self, *, at: datetime) -> Stage | None:
        """Return the stage that the applicant knows of at `at`: the latest one whose embargo has
        ended, else the first stage; None without stages. Requires `with_visible_status()`.
        """
        changes = without_undone(self.ordered_changes)
        visible = [change for change in changes if change.visible_at <= at]
        latest = visible[-1:] or changes[:1]
        return latest[0].stage if latest else None

    def visible_status(self, *, at: datetime) -> Status | None:
        """Return the status that the applicant sees at `at`. Requires `with_visible_status()`."""
        stage = self.visible_stage(at=at)
        return stage.status if stage else None

    def is_withdrawable(self, *, at: datetime) -> bool:
        """Return whether the applicant can withdraw: until they see a result. A result under
        embargo must not show, so it does not count. Requires `with_visible_status()`.
        """
        stage = self.visible_stage(at=at)
        return self.withdrawn_at is None and (stage is None or stage.kind == Stage.Kind.OPEN)


class StageChange(models.Model):
    """A move of an application to a stage. Rows are only added;
    the latest one is the current stage.
    """

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="changes")
    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="changes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    # The applicant knows the status already.
    is_exempt_from_embargo = models.BooleanField(default=False)
    reason = models.ForeignKey(
        Reason, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # It takes the previous change back. Applicants see neither of the two (decision 165).
    is_undo = models.BooleanField(default=False, db_default=False)
    # The coming interviews are cancelled when the applicant sees the status.
    cancels_interviews = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = _("stage change")
        verbose_name_plural = _("stage changes")
        ordering = ["at", "pk"]
        # Has all that `with_stage()` reads, so that lists do not read the table.
        indexes = [
            models.Index(
                fields=["application", "-at", "-id", "stage"], name="stage_changes_latest"
            ),
            models.Index(
                "at", condition=Q(cancels_interviews=True), name="stage_changes_cancelling"
            ),
        ]

    def __str__(self) -> str:
        return str(self.stage)

    @property
    def visible_at(self) -> datetime:
        """When the applicant sees the status: after the calendar days of the embargo."""
        return days_after(self.at, 0 if self.is_exempt_from_embargo else self.stage.embargo_days)

    def is_followed(self) -> bool:
        """Return whether the application was moved again, or the change was undone."""
        return StageChange.objects.filter(application=self.application_id, pk__gt=self.pk).exists()


def without_undone(changes: list[StageChange]) -> list[StageChange]:
    """Return the `changes` of an application, in their order, without those that were undone and
    without the rows that undid them. The last one is the current stage.
    """
    kept: list[StageChange] = []
    for change in changes:
        if not change.is_undo:
            kept.append(change)
        elif kept:
            kept.pop()
    return kept
