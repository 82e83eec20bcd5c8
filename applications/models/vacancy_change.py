"""The moves of applications to another vacancy."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application
from applications.models.message import Message
from vacancies.models import Vacancy


class VacancyChange(models.Model):
    """An application was on the vacancy `before`, which was the wrong one. Rows are only added."""

    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="vacancy_changes"
    )
    before = models.ForeignKey(Vacancy, on_delete=models.SET_NULL, null=True, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    # the email that told the applicant, if there was one
    notice = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, related_name="+")
    is_undo = models.BooleanField(default=False)  # it takes the previous change back

    class Meta:
        verbose_name = _("change of the vacancy")
        verbose_name_plural = _("changes of the vacancy")
        default_permissions = ()
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
