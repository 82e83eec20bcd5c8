"""Applications, their stages and their steps."""

import secrets
from datetime import datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from applications.querysets import ApplicationQuerySet, HistoryQuerySet
from jobsite.days import days_after
from jobsite.fields import WebURLField
from jobsite.languages import LANGUAGES, site_language
from jobsite.text.formats import format_datetime, format_period
from vacancies.models import Vacancy


class Status(models.Model):
    """The status that applicants see, in each language."""

    label_en = models.CharField(_("in English"), max_length=200, blank=True, default="")
    label_nl = models.CharField(_("in Dutch"), max_length=200, blank=True, default="")
    label_fr = models.CharField(_("in French"), max_length=200, blank=True, default="")
    label_de = models.CharField(_("in German"), max_length=200, blank=True, default="")

    class Meta:
        verbose_name = _("candidate-facing status")
        verbose_name_plural = _("candidate-facing statuses")
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(label_en="", label_nl="", label_fr="", label_de=""),
                name="status_says_something",
                violation_error_message=_("Enter the text in at least one language."),
            )
        ]

    def __str__(self) -> str:
        return self.label(site_language())

    def label(self, language: str) -> str:
        """Return the label in `language`, else in the site's language, else in any."""
        codes = dict.fromkeys((language, site_language(), *LANGUAGES))
        return next(filter(None, (getattr(self, f"label_{code}") for code in codes)), "")


# The stages of a new site have English names in the database. They are shown in the user's language.
INITIAL_STAGES = {
    "New": pgettext_lazy("stage", "New"),
    "Screening": pgettext_lazy("stage", "Screening"),
    "Interview": pgettext_lazy("stage", "Interview"),
    "Offer": pgettext_lazy("stage", "Offer"),
    "Hired": pgettext_lazy("stage", "Hired"),
    "Rejected": pgettext_lazy("stage", "Rejected"),
    "Withdrawn": pgettext_lazy("stage", "Withdrawn"),
}


# Likewise the reasons of a new site.
INITIAL_REASONS = {
    "Qualification is missing": pgettext_lazy("reason", "Qualification is missing"),
    "Not enough experience": pgettext_lazy("reason", "Not enough experience"),
    "Languages": pgettext_lazy("reason", "Languages"),
    "Expected pay": pgettext_lazy("reason", "Expected pay"),
    "Not available in time": pgettext_lazy("reason", "Not available in time"),
    "Another applicant was chosen": pgettext_lazy("reason", "Another applicant was chosen"),
    "The vacancy was closed": pgettext_lazy("reason", "The vacancy was closed"),
    "Duplicate application": pgettext_lazy("reason", "Duplicate application"),
    "Accepted another offer": pgettext_lazy("reason", "Accepted another offer"),
    "Pay or conditions": pgettext_lazy("reason", "Pay or conditions"),
    "Personal reasons": pgettext_lazy("reason", "Personal reasons"),
}


def reason_label(name: str) -> str:
    """Return how the reason `name` is called on pages."""
    return str(INITIAL_REASONS.get(name, name))


def stage_label(name: str) -> str:
    """Return how the stage `name` is called on pages: a name that a recruiter gave is not translated."""
    return str(INITIAL_STAGES.get(name, name))


class Reason(models.Model):
    """Why an applicant was rejected or withdrew. For recruiters only: no applicant reads it."""

    class Kind(models.TextChoices):
        """The stages that it is offered for: those of the same `Stage.Kind`."""

        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn by the applicant")

    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("result"), max_length=10, choices=Kind.choices, default=Kind.REJECTED)
    is_active = models.BooleanField(
        _("offered"), default=True, help_text=_("If off, moves that have it keep it.")
    )
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        verbose_name = _("reason")
        verbose_name_plural = _("reasons")
        ordering = ["kind", "position", "pk"]
        constraints = [
            models.UniqueConstraint(
                "kind", "name", name="one_reason_per_name",
                violation_error_message=_("There is such a reason already."),
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return reason_label(self.name)


class Stage(models.Model):
    """An internal stage of the recruitment process. Applicants see its status, not its name."""

    class Kind(models.TextChoices):
        """What a stage decides."""

        OPEN = "open", _("in progress")
        HIRED = "hired", _("hired")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn by the applicant")

    class AsksReason(models.TextChoices):
        NEVER = "never", _("never asked for")
        MAY = "may", _("may be given")
        MUST = "must", _("must be given")

    name = models.CharField(_("name"), max_length=200, unique=True, help_text=_("For recruiters only."))
    status = models.ForeignKey(
        Status,
        on_delete=models.PROTECT,
        related_name="stages",
        help_text=_("The status that candidates see."),
        verbose_name=_("status"),
    )
    embargo_days = models.PositiveSmallIntegerField(
        _("delay before the candidate sees it"),
        default=0,
        help_text=_("In days. Until then, candidates see the previous status. 0: they see it immediately."),
    )
    kind = models.CharField(
        _("result"), max_length=10, choices=Kind.choices, default=Kind.OPEN, db_default=Kind.OPEN
    )
    asks_reason = models.CharField(
        _("reason"), max_length=5, choices=AsksReason.choices, default=AsksReason.NEVER,
        db_default=AsksReason.NEVER,
        help_text=_("Whether a recruiter who moves an application there chooses a reason."),
    )  # fmt: skip
    email = models.ForeignKey(
        "MailTemplate", on_delete=models.PROTECT, null=True, blank=True, related_name="stages",
        verbose_name=_("email"),
        help_text=_("Sent to applicants whom a recruiter moves there. If empty, no email is sent."),
    )  # fmt: skip
    email_after_hours = models.PositiveSmallIntegerField(
        _("hours until the email"),
        default=1,
        db_default=1,
        validators=[MaxValueValidator(720)],
        help_text=_("At most 720. It is never sent before the candidate sees the status."),
    )
    remind_days = models.PositiveSmallIntegerField(
        _("days until a reminder"),
        default=0,
        db_default=0,
        validators=[MaxValueValidator(365)],
        help_text=_(
            "Applications that are in the stage for longer are on the start page, and in an email on "
            "Mondays. 0: never."
        ),
    )
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        verbose_name = _("stage")
        verbose_name_plural = _("stages")
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return stage_label(self.name)

    def clean(self) -> None:
        if self.asks_reason != self.AsksReason.NEVER and self.kind not in Reason.Kind.values:
            text = gettext("Only stages with the result “rejected” or “withdrawn” have reasons.")
            raise ValidationError({"asks_reason": text})

    @property
    def needs_confirmation(self) -> bool:
        """Whether a recruiter confirms a move to it on a page of its own."""
        decides = self.kind in (self.Kind.HIRED, self.Kind.REJECTED)
        return decides or self.asks_reason != self.AsksReason.NEVER or self.email_id is not None


def new_reference() -> str:
    """Return a random reference. It has no letters that people confuse, and no words."""
    return "".join(secrets.choice("23456789BCDFGHJKLMNPQRSTVWXYZ") for _ in range(8))


class Application(models.Model):
    """A person's application to a vacancy.

    It belongs to an account (`user`), or to nobody until the applicant proves that the mailbox is theirs. An
    application that came through a form has a `submission`.
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
    given_name = models.CharField(max_length=200, blank=True, default="", db_default="", editable=False)
    family_name = models.CharField(max_length=200, blank=True, default="", db_default="", editable=False)
    email = models.EmailField(_("e-mail address"), blank=True, default="", db_default="", editable=False)
    email_folded = models.CharField(max_length=254, blank=True, default="", db_default="", editable=False)
    phone = models.CharField(
        _("phone"), max_length=200, blank=True, default="", db_default="", editable=False
    )
    # For comparison, see `phone_digits()`. None: written by an earlier release; `PhoneDigits` computes it.
    phone_digits = models.CharField(max_length=9, null=True, blank=True, editable=False)  # noqa: DJ001
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
    is_repeated = models.BooleanField(_("applied again"), default=False, db_default=False, editable=False)
    rating = models.PositiveSmallIntegerField(
        _("rating"), null=True, blank=True, choices=[(n, str(n)) for n in range(1, 6)]
    )
    read_at = models.DateTimeField(null=True, blank=True, editable=False)  # first opened by a recruiter
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
            models.UniqueConstraint(fields=["user", "vacancy", "created_at"], name="application_once"),
        ]
        indexes = [
            models.Index("email_folded", name="applications_of_address"),
            models.Index("vacancy", F("created_at").desc(), name="applications_of_vacancy"),
            models.Index("phone_digits", condition=Q(phone_digits__gt=""), name="applications_of_phone"),
            models.Index(Upper("family_name"), Upper("given_name"), name="applications_of_name"),
            models.Index(
                "vacancy", F("created_at").desc(), condition=Q(read_at=None), name="applications_unread"
            ),
        ]

    def __str__(self) -> str:
        # without a name, because logs contain it
        return gettext("Application %(number)s") % {"number": self.pk}

    @property
    def stage_label(self) -> str:
        """The current stage, in the user's language, "" without one or without `with_stage()`."""
        return stage_label(getattr(self, "stage_name", None) or "")

    @property
    def display_name(self) -> str:
        """The applicant's name, as the form or the account has it, else the user name or the address."""
        name = f"{self.given_name} {self.family_name}".strip()
        if not name and self.user:
            name = self.user.get_full_name() or self.user.get_username()
        return name or self.email or str(self)

    @property
    def address(self) -> str:
        """The applicant's e-mail address, as the form or the account has it."""
        return self.email or (self.user.email if self.user else "")

    def visible_stage(self, *, at: datetime) -> Stage | None:
        """Return the stage that the applicant knows of at `at`: the latest one whose embargo has ended, else
        the first stage; None without stages. Requires `with_visible_status()`."""
        changes = without_undone(self.ordered_changes)
        visible = [change for change in changes if change.visible_at <= at]
        latest = visible[-1:] or changes[:1]
        return latest[0].stage if latest else None

    def visible_status(self, *, at: datetime) -> Status | None:
        """Return the status that the applicant sees at `at`. Requires `with_visible_status()`."""
        stage = self.visible_stage(at=at)
        return stage.status if stage else None

    def is_withdrawable(self, *, at: datetime) -> bool:
        """Return whether the applicant can withdraw: until they see a result. A result under embargo must not
        show, so it does not count. Requires `with_visible_status()`."""
        stage = self.visible_stage(at=at)
        return self.withdrawn_at is None and (stage is None or stage.kind == Stage.Kind.OPEN)


class StageChange(models.Model):
    """A move of an application to a stage. Rows are only added; the latest one is the current stage."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="changes")
    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="changes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    is_exempt_from_embargo = models.BooleanField(default=False)  # the applicant knows the status already
    reason = models.ForeignKey(
        Reason, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # It takes the previous change back. Applicants see neither of the two (decision 165).
    is_undo = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = _("stage change")
        verbose_name_plural = _("stage changes")
        ordering = ["at", "pk"]
        # Has all that `with_stage()` reads, so that lists do not read the table.
        indexes = [models.Index(fields=["application", "-at", "-id", "stage"], name="stage_changes_latest")]

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
    """Return the `changes` of an application, in their order, without those that were undone and without the
    rows that undid them. The last one is the current stage."""
    kept: list[StageChange] = []
    for change in changes:
        if not change.is_undo:
            kept.append(change)
        elif kept:
            kept.pop()
    return kept


class HistoryEntry(models.Model):
    """A scheduled step of an application, and its result: an interview if it has a `uid`, else a task."""

    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="history", verbose_name=_("application")
    )
    name = models.CharField(_("name"), max_length=200)
    result = models.CharField(_("result"), max_length=200, blank=True, default="")
    planned_at = models.DateTimeField(_("scheduled for"))
    is_visible = models.BooleanField(_("visible to the applicant"), default=False)
    is_imported = models.BooleanField(default=False, editable=False)  # deleted when its source drops it
    # Of an interview. Tasks have none of these.
    ends_at = models.DateTimeField(null=True, blank=True, editable=False)
    zone = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    place = models.CharField(max_length=300, blank=True, default="", db_default="", editable=False)
    video_url = WebURLField(max_length=500, db_default="", editable=False)
    details = models.TextField(max_length=2000, blank=True, default="", db_default="", editable=False)
    # Of the calendar entry, which it keeps. `sequence` grows with each sending of emails.
    uid = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)
    sequence = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    is_cancelled = models.BooleanField(_("cancelled"), default=False, db_default=False, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+",
        editable=False,
    )  # fmt: skip
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now, editable=False)

    objects = HistoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("interview or task")
        verbose_name_plural = _("interviews and tasks")
        ordering = ["planned_at", "created_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("planned_at")), name="step_ends_after_start"),
            models.UniqueConstraint(fields=["uid"], condition=~Q(uid=""), name="step_uid_once"),
        ]
        indexes = [models.Index("planned_at", condition=~Q(uid=""), name="interviews_by_time")]

    def __str__(self) -> str:
        return self.name

    @property
    def when(self) -> str:
        """When it is: an interview in its own time zone, a task in the site's."""
        if self.ends_at is None:
            return format_datetime(self.planned_at)
        return format_period(self.planned_at, self.ends_at, self.zone)
