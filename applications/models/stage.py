"""Stages, the statuses that applicants see, and the reasons of a move."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from jobsite.languages import LANGUAGES, site_language


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


# The stages of a new site have English names in the database. They are shown in the user's
# language.
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
    """Return how the stage `name` is called on pages:
    a name that a recruiter gave is not translated.
    """
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
                "kind",
                "name",
                name="one_reason_per_name",
                violation_error_message=_("There is such a reason already."),
            )
        ]

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

    name = models.CharField(
        _("name"), max_length=200, unique=True, help_text=_("For recruiters only.")
    )
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
        help_text=_(
            "In days. Until then, candidates see the previous status. 0: they see it immediately."
        ),
    )
    kind = models.CharField(
        _("result"), max_length=10, choices=Kind.choices, default=Kind.OPEN, db_default=Kind.OPEN
    )
    asks_reason = models.CharField(
        _("reason"),
        max_length=5,
        choices=AsksReason.choices,
        default=AsksReason.NEVER,
        db_default=AsksReason.NEVER,
        help_text=_("Whether a recruiter who moves an application there chooses a reason."),
    )
    email = models.ForeignKey(
        "MailTemplate",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="stages",
        verbose_name=_("email"),
        help_text=_("Sent to applicants whom a recruiter moves there. If empty, no email is sent."),
    )
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
            "Applications that are in the stage for longer are on the start page, and in an email "
            "on Mondays. 0: never."
        ),
    )
    is_presented = models.BooleanField(
        _("presented"),
        default=False,
        db_default=False,
        help_text=_("Members of a team who see presented applications only see those in it."),
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
