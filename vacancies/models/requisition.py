"""What recruiters record about a vacancy for themselves."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from vacancies.models.vacancy import Vacancy


class Requisition(models.Model):
    """The internal data of a vacancy. A table of its own, which no serializer, version, approval or
    trigger of the read model reads: a column of Vacancy would be public one mistake later. A
    vacancy without a row has the defaults.
    """

    vacancy = models.OneToOneField(Vacancy, on_delete=models.CASCADE, related_name="requisition")
    client = models.CharField(
        _("client"),
        max_length=200,
        blank=True,
        default="",
        db_index=True,
        help_text=_("Whom the vacancy is for, if you recruit for others."),
    )
    note = models.TextField(_("internal note"), max_length=10_000, blank=True, default="")
    positions = models.PositiveSmallIntegerField(
        _("positions"),
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(999)],
        help_text=_("How many people you want to hire."),
    )
    filled_at = models.DateTimeField(null=True, blank=True)
    is_for_open_applications = models.BooleanField(
        _("for open applications"),
        default=False,
        help_text=_("Who applies to this vacancy has no particular job in mind."),
    )
    criteria = models.JSONField(_("criteria"), blank=True, default=list)  # names, for scorecards
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("internal data")
        verbose_name_plural = _("internal data")
        default_permissions = ("view", "change")
        constraints = [
            models.CheckConstraint(
                condition=Q(positions__gte=1, positions__lte=999), name="positions_from_1_to_999"
            )
        ]

    def __str__(self) -> str:
        return str(self.vacancy)

    @classmethod
    def takes_open_applications(cls, vacancy: Vacancy) -> bool:
        """Return whether new applications to `vacancy` are open ones."""
        return cls.objects.filter(vacancy=vacancy, is_for_open_applications=True).exists()

    @classmethod
    def of(cls, vacancy: Vacancy) -> "Requisition":
        """Return the internal data of `vacancy`, unsaved if it has none."""
        return getattr(vacancy, "requisition", None) or cls(vacancy=vacancy)
