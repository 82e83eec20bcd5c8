"""Who may see the applications to a vacancy beside the members of its brand."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from vacancies.models.vacancy import Vacancy


class TeamMember(models.Model):
    """A colleague who takes part in the decision about a vacancy. The role says what they see of an
    application, this row which applications (docs/decisions.md #54). It is no part of what the API
    shows, so no version, trigger or approval knows it.
    """

    class Sees(models.TextChoices):
        ALL = "all", _("all applications")
        PRESENTED = "presented", _("those in a stage that is presented")

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="team")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="teams"
    )
    sees = models.CharField(_("sees"), max_length=10, choices=Sees.choices, default=Sees.ALL)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    added_at = models.DateTimeField(default=timezone.now)
    # The last email about applications that wait for an opinion.
    told_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("team member")
        verbose_name_plural = _("team members")
        ordering = ["added_at", "pk"]
        default_permissions = ()  # whoever may change the vacancy
        constraints = [models.UniqueConstraint(fields=["vacancy", "user"], name="team_member_once")]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
