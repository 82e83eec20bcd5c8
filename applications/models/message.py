"""Emails, their templates, and recruiters' notes."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from applications.models.alert import JobAlert
from applications.models.application import Application, StageChange
from applications.models.interview import Participant
from applications.models.stage import Stage
from applications.models.submission import PrivateFile
from vacancies.models import Brand, Vacancy


class MailTemplate(models.Model):
    """The text of an email to applicants, in each language, of a brand or (None) of the site.
    Placeholders: `applications.mail.templates`.
    """

    name = models.CharField(_("name"), max_length=200, help_text=_("For recruiters only."))
    brand = models.ForeignKey(
        Brand,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("brand"),
    )
    subject_en = models.CharField(_("subject in English"), max_length=200, blank=True, default="")
    body_en = models.TextField(_("text in English"), max_length=10_000, blank=True, default="")
    subject_nl = models.CharField(_("subject in Dutch"), max_length=200, blank=True, default="")
    body_nl = models.TextField(_("text in Dutch"), max_length=10_000, blank=True, default="")
    subject_fr = models.CharField(_("subject in French"), max_length=200, blank=True, default="")
    body_fr = models.TextField(_("text in French"), max_length=10_000, blank=True, default="")
    subject_de = models.CharField(_("subject in German"), max_length=200, blank=True, default="")
    body_de = models.TextField(_("text in German"), max_length=10_000, blank=True, default="")

    class Meta:
        verbose_name = _("email template")
        verbose_name_plural = _("email templates")
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["brand", "name"],
                name="one_template_per_brand",
                violation_error_message=_("The brand has a template with this name."),
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(brand=None),
                name="one_template_of_the_site",
                violation_error_message=_("The site has a template with this name."),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BrandMail(models.Model):
    """What the emails to applicants of a brand have: the sender, and a signature in each language;
    and what a rejection begins with.
    """

    brand = models.OneToOneField(Brand, on_delete=models.CASCADE, related_name="mail")
    sender_name = models.CharField(
        _("name of the sender"),
        max_length=80,
        blank=True,
        default="",
        help_text=_("If empty, and there is an address: the name of the brand."),
    )
    sender_address = models.EmailField(
        _("address of the sender"), max_length=200, blank=True, default=""
    )
    reply_to = models.EmailField(
        _("address for replies"),
        blank=True,
        default="",
        help_text=_("Replies to an email that a recruiter wrote go to that recruiter."),
    )
    has_names_in_invitations = models.BooleanField(
        _("name the applicant in invitations of colleagues"),
        default=False,
        db_default=False,
        help_text=_("Calendars of colleagues keep the name after the applicant was erased."),
    )
    rejection = models.ForeignKey(
        MailTemplate,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
        verbose_name=_("email of a rejection"),
        help_text=_("If empty: the email of the stage."),
    )
    has_rejection_email = models.BooleanField(
        _("switch the email of a rejection on"),
        default=True,
        db_default=True,
        help_text=_("Whoever rejects somebody sees it, and can switch it off."),
    )
    asks_reason = models.CharField(
        _("reason of a rejection"),
        max_length=5,
        choices=Stage.AsksReason.choices,
        blank=True,
        default="",
        db_default="",
        help_text=_("If empty: as the stage asks."),
    )
    signature_en = models.TextField(
        _("signature in English"), max_length=1000, blank=True, default=""
    )
    signature_nl = models.TextField(
        _("signature in Dutch"), max_length=1000, blank=True, default=""
    )
    signature_fr = models.TextField(
        _("signature in French"), max_length=1000, blank=True, default=""
    )
    signature_de = models.TextField(
        _("signature in German"), max_length=1000, blank=True, default=""
    )

    class Meta:
        verbose_name = _("emails of a brand")
        verbose_name_plural = _("emails of brands")
        default_permissions = ()  # whoever may change the brand may change it

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.brand_id}"


class Message(models.Model):
    """An email as it is sent: a row of the outbox, then the record of the delivery."""

    class Kind(models.TextChoices):
        RECEIPT = "receipt", _("receipt")
        TEMPLATE = "template", _("email from a recruiter")
        NOTICE = "notice", _("notice to an applicant who was added")
        CONSENT = "consent", _("question for consent")
        POOL = "pool", _("question for the talent pool")
        STAGE = "stage", _("email of a stage")
        WITHDRAWAL = "withdrawal", _("confirmation of a withdrawal")
        MENTION = "mention", _("mention in a note")
        DIGEST = "digest", _("daily digest")
        CLOSING = "closing", _("vacancies that close soon")
        APPROVAL = "approval", _("request for approval")
        DECISION = "decision", _("decision on a request for approval")
        SCORECARD = "scorecard", _("request for a scorecard")
        STALE = "stale", _("applications without a decision")
        OPINION = "opinion", _("applications for an opinion")
        INVITATION = "invitation", _("invitation of a colleague")
        INTERVIEW = "interview", _("interview")
        REMINDER = "reminder", _("reminder of an interview")
        ALERT = "alert", _("job alert")
        WEBHOOK = "webhook", _("webhook that failed")
        ALERT_CONFIRMATION = "alert_confirmation", _("confirmation of a job alert")

    class State(models.TextChoices):
        QUEUED = "queued", pgettext_lazy("an email", "queued")
        SENDING = "sending", pgettext_lazy("an email", "being sent")
        SENT = "sent", pgettext_lazy("an email", "sent")
        FAILED = "failed", pgettext_lazy("an email", "failed")

    WAITING = (State.QUEUED, State.SENDING)  # neither sent nor failed
    SECRET = "personal-link"  # stands for the secret of a link where an email is shown

    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    # None: an email to a colleague that is about no single application
    application = models.ForeignKey(
        Application,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="messages",
        verbose_name=_("application"),
    )
    # the stage change that it is about: it is sent when the applicant sees the change
    stage_change = models.ForeignKey(
        StageChange,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="messages",
        editable=False,
    )
    # the recruiter who wrote it, or None for the system
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    # the colleague it is for, or None for the applicant and who has no account yet
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("recipient"),
    )
    # The From line, "" for that of the site, and where replies to the system go: those of the brand
    # when the text, with the signature, was written.
    sender = models.CharField(max_length=320, blank=True, default="", db_default="", editable=False)
    reply_to = models.EmailField(blank=True, default="", db_default="", editable=False)
    to = models.EmailField(_("to"))
    language = models.CharField(_("language"), max_length=2)
    subject = models.CharField(_("subject"), max_length=400)
    # With `link_marker` in place of the secret of a personal link.
    body = models.TextField(_("body"))
    # The same as HTML, with the marker, or "": mail programs show one of both.
    html = models.TextField(blank=True, default="", db_default="", editable=False)
    # The body states the pay.
    has_pay = models.BooleanField(default=False, db_default=False, editable=False)
    # Random, so that nothing that an applicant or recruiter writes has it. Empty: no personal link.
    link_marker = models.CharField(
        max_length=32, blank=True, default="", db_default="", editable=False
    )
    # The calendar entry (.ics) that it has, and whom it invites.
    calendar = models.TextField(blank=True, default="", db_default="", editable=False)
    participant = models.ForeignKey(
        Participant,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="messages",
        editable=False,
    )
    alert = models.ForeignKey(
        JobAlert,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="messages",
        editable=False,
    )
    # one of thousands that are due at once: others are sent before it
    is_bulk = models.BooleanField(default=False, db_default=False, editable=False)
    # Ids of the vacancies that an email to a colleague names. It is not sent if the colleague lost
    # one.
    vacancies = models.JSONField(default=list, db_default=[], editable=False)
    state = models.CharField(
        _("status"), max_length=10, choices=State.choices, default=State.QUEUED
    )
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    error = models.CharField(
        _("error"), max_length=500, blank=True, default=""
    )  # of the last attempt, without addresses
    # when it is due for the first time
    queued_at = models.DateTimeField(_("queued at"), default=timezone.now)
    next_at = models.DateTimeField(_("next at"), default=timezone.now)  # of the next attempt
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        verbose_name = _("email")
        verbose_name_plural = _("emails")
        ordering = ["queued_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=("queued", "sending", "sent", "failed")),
                name="message_state_known",
            )
        ]
        indexes = [
            # not partial: SQLite would not use it for a parameter
            models.Index(fields=["state", "next_at"], name="messages_by_state"),
            models.Index(
                fields=["state", "next_at"], condition=Q(is_bulk=False), name="messages_not_bulk"
            ),
        ]

    def __str__(self) -> str:
        # Without the address, because logs contain it.
        return f"{self.get_kind_display()} {self.pk}"

    @property
    def text(self) -> str:
        """The body as it is shown and exported."""
        return self.body.replace(self.link_marker, self.SECRET) if self.link_marker else self.body


class MessageFile(PrivateFile):
    """A file of an email. It is kept with the email, as what the applicant got."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="files")

    class Meta:
        verbose_name = _("file of an email")
        verbose_name_plural = _("files of emails")
        default_permissions = ()  # whoever may view the email may view it
        ordering = ["pk"]


class EmailOptOut(models.Model):
    """A user who does not receive the emails of one kind. Without a row, the user receives them,
    also those of a kind that is added later.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(
        max_length=20,
        choices=Message.Kind.choices,
        default=Message.Kind.DIGEST,
        db_default="digest",
    )

    class Meta:
        verbose_name = _("email opt out")
        verbose_name_plural = _("email opt outs")
        db_table = "applications_digestoptout"  # a rename would stop a site that runs
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="one_opt_out_per_kind")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.kind}"


class EmailLanguage(models.Model):
    """The language in which a user receives emails. Without a row, it is the site's."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    language = models.CharField(max_length=2)

    class Meta:
        verbose_name = _("email language")
        verbose_name_plural = _("email languages")

    def __str__(self) -> str:
        return f"{self.user_id} {self.language}"


class ClosingNotice(models.Model):
    """A user was told that a vacancy closes at this time."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="+")
    publish_until = models.DateTimeField()

    class Meta:
        verbose_name = _("closing notice")
        verbose_name_plural = _("closing notices")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "vacancy", "publish_until"], name="one_closing_notice"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.vacancy_id}"


class Note(models.Model):
    """A recruiter's note about an application. Mentioned colleagues receive an email."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    text = models.TextField(max_length=10_000)
    mentioned = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    is_for_team = models.BooleanField(_("for the team"), default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("note")
        verbose_name_plural = _("notes")
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
