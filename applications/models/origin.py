"""How applications that a colleague added came in, and the consents that
applicants are asked for.
"""

from datetime import date, datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
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


class ConsentQuerySet(models.QuerySet):
    def of_pool(self) -> Self:
        return self.filter(purpose="pool")

    def in_pool(self, day: date) -> Self:
        """The consents to the talent pool that are valid on `day`. One to the text of a brand is
        not valid for another brand, to which the vacancy or the application was moved.
        """
        of_brand = Q(brand_number=F("application__vacancy__brand"))
        valid = self.of_pool().filter(answer="yes", left_at=None, until__gte=day)
        return valid.filter(of_brand | Q(brand_number=None))

    def asked_for_pool(self, day: date) -> Self:
        """The questions for the talent pool that can be answered on `day`."""
        return self.of_pool().filter(answer="", due_on__gte=day)


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
    # Without an answer until then, the data are deleted, or the applicant is not in the pool.
    due_on = models.DateField()
    reminded_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=3, choices=Answer.choices, blank=True, default="")
    # How long a consent is valid; None: as the application.
    until = models.DateField(null=True, blank=True)
    # When the applicant left the pool, after the answer "yes".
    left_at = models.DateTimeField(null=True, blank=True)
    # The brand whose own text it is, None for a text of the site; and the employer that asked.
    # No foreign key: they outlive the brand.
    brand_number = models.BigIntegerField(null=True, blank=True)
    employer = models.CharField(max_length=200, blank=True, default="", db_default="")

    objects = ConsentQuerySet.as_manager()

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
        indexes = [
            models.Index("due_on", condition=Q(answer=""), name="consent_requests_due"),
            models.Index(
                "until",
                condition=Q(purpose="pool", answer="yes", left_at=None),
                name="consents_to_pool",
            ),
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
