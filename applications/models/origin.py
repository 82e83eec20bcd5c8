"""How applications that a colleague added came in, and the consents that
applicants are asked for.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from applications.models.application import Application

INFORMED_WITHIN = timedelta(days=30)  # GDPR, article 14(3): within a month


class Origin(models.Model):
    """How an application that a colleague added came in, and why it may be stored. Without a row,
    the applicant sent it.
    """

    class Channel(models.TextChoices):
        EMAIL = "email", pgettext_lazy("channel", "Email")
        PHONE = "phone", pgettext_lazy("channel", "Telephone")
        LINKEDIN = "linkedin", pgettext_lazy("channel", "LinkedIn")
        FAIR = "fair", pgettext_lazy("channel", "Fair or event")
        REFERRAL = "referral", pgettext_lazy("channel", "Recommendation")
        AGENCY = "agency", pgettext_lazy("channel", "Recruitment agency")
        OPEN = "open", pgettext_lazy("channel", "Open application")
        EARLIER = "earlier", pgettext_lazy("channel", "Earlier application")
        OTHER = "other", pgettext_lazy("channel", "Other")

    class Basis(models.TextChoices):
        """The legal basis: GDPR, article 6(1) (b), (f) and (a)."""

        REQUEST = "request", _("The applicant applied")
        INTEREST = "interest", _("Legitimate interest: the applicant did not apply")
        CONSENT = "consent", _("Consent: the applicant is asked")

    # Made here, from another application.
    COPIED = (Channel.OPEN, Channel.EARLIER)
    # How somebody came in who asked to be considered. With other channels, others gave the data.
    APPLIED_BY = (Channel.EMAIL, Channel.PHONE, Channel.FAIR, Channel.OPEN)

    application = models.OneToOneField(Application, on_delete=models.CASCADE, related_name="origin")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    basis = models.CharField(max_length=10, choices=Basis.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    added_at = models.DateTimeField(default=timezone.now)
    # The applicant was told what is stored.
    informed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("origin")
        verbose_name_plural = _("origins")
        default_permissions = ()  # whoever may see the application may see it
        indexes = [
            models.Index(
                "added_at",
                condition=Q(basis="interest", informed_at=None),
                name="origins_not_informed",
            )
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.application_id}"

    @property
    def deleted_from(self) -> datetime:
        """From when `purge` deletes the application if the applicant, who did not apply, is not
        informed.
        """
        return self.added_at + INFORMED_WITHIN

    @classmethod
    def usual_basis(cls, channel: str) -> "Origin.Basis":
        return cls.Basis.REQUEST if channel in cls.APPLIED_BY else cls.Basis.INTEREST


class ConsentRequest(models.Model):
    """A question that the applicant answers on the page of the personal link."""

    class Purpose(models.TextChoices):
        APPLICATION = "application", _("this application")
        POOL = "pool", _("talent pool")

    class Answer(models.TextChoices):
        YES = "yes", _("yes")
        NO = "no", _("no")

    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="consent_requests"
    )
    purpose = models.CharField(max_length=11, choices=Purpose.choices)
    text = models.TextField()  # as it was shown
    version = models.PositiveIntegerField()  # of the consent text
    asked_at = models.DateTimeField(default=timezone.now)
    due_on = models.DateField()  # without an answer until then, the data are deleted
    reminded_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=3, choices=Answer.choices, blank=True, default="")
    # How long a consent is valid; None: as the application.
    until = models.DateField(null=True, blank=True)

    class Meta:
        verbose_name = _("consent request")
        verbose_name_plural = _("consent requests")
        default_permissions = ()
        ordering = ["asked_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["application", "purpose"],
                condition=Q(answer=""),
                name="one_open_consent_request",
            ),
            models.CheckConstraint(
                condition=Q(answer="", answered_at=None)
                | Q(answer__in=("yes", "no"), answered_at__isnull=False),
                name="consent_answer_has_time",
            ),
        ]
        indexes = [models.Index("due_on", condition=Q(answer=""), name="consent_requests_due")]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
