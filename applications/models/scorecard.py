"""The scorecards of interviewers."""

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application
from applications.models.history_entry import HistoryEntry


class Scorecard(models.Model):
    """What a colleague thinks of an applicant, after an interview (`entry`) or without one. A draft
    until it is sent; then it is final.
    """

    class Recommendation(models.IntegerChoices):
        STRONG_NO = 1, _("Strong no")
        NO = 2, _("No")
        YES = 3, _("Yes")
        STRONG_YES = 4, _("Strong yes")

    SCORES = range(1, 5)

    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="scorecards"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    entry = models.ForeignKey(
        HistoryEntry, on_delete=models.SET_NULL, null=True, blank=True, related_name="scorecards"
    )
    recommendation = models.PositiveSmallIntegerField(
        _("recommendation"), choices=Recommendation.choices, null=True, blank=True
    )
    # [{"name", "score"}], with the criteria of the vacancy at that time; the score is null if there
    # is none
    scores = models.JSONField(default=list, blank=True)
    text = models.TextField(_("text"), max_length=10_000, blank=True, default="")
    # By an email, after the end of the interview.
    asked_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("scorecard")
        verbose_name_plural = _("scorecards")
        ordering = ["sent_at", "pk"]
        default_permissions = ("view", "add")
        constraints = [
            models.UniqueConstraint(
                fields=["application", "author", "entry"], name="one_scorecard"
            ),
            models.CheckConstraint(
                condition=Q(recommendation=None) | Q(recommendation__gte=1, recommendation__lte=4),
                name="recommendation_from_1_to_4",
            ),
            models.CheckConstraint(
                condition=Q(sent_at=None) | Q(recommendation__isnull=False),
                name="sent_scorecard_recommends",
            ),
        ]

    @classmethod
    def of(cls, author: User, application: Application, entry: HistoryEntry | None) -> "Scorecard":
        """Return the scorecard of `author` about `entry`, or about no interview;
        a new one is not saved.
        """
        new = cls(application=application, author=author, entry=entry)
        return cls.same_as(new) or new

    @classmethod
    def same_as(cls, card: "Scorecard") -> "Scorecard | None":
        """Return the stored scorecard of the author of `card` about the same."""
        rows = cls.objects.filter(
            application=card.application_id, author=card.author_id, entry=card.entry_id
        )
        return rows.order_by("pk").first()

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
