"""Invitations of colleagues."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils.translation import gettext_lazy as _

from applications.models.message import Message
from vacancies.models import Brand, TeamMember, Vacancy


class Invitation(models.Model):
    """An invitation that was neither accepted nor withdrawn: both delete the row. The account is
    created when it is accepted. Another one for the same address may exist (docs/decisions.md
    #206).
    """

    MAX_AGE = timedelta(days=7)

    email = models.EmailField(_("e-mail address"))
    first_name = models.CharField(max_length=150, blank=True, default="")
    last_name = models.CharField(max_length=150, blank=True, default="")
    role = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="+")
    brands = models.ManyToManyField(Brand, blank=True, related_name="+")
    # To their teams, with what the member sees there.
    vacancies = models.ManyToManyField(Vacancy, blank=True, related_name="+")
    sees = models.CharField(
        max_length=10,
        choices=TeamMember.Sees.choices,
        default=TeamMember.Sees.ALL,
        db_default=TeamMember.Sees.ALL,
    )
    language = models.CharField(max_length=2)  # of the email
    # An invitation is worth no more than the permissions of its author, so it is deleted with the
    # account.
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    message = models.ForeignKey(
        Message, on_delete=models.SET_NULL, null=True, related_name="+"
    )  # the last one
    sent_at = models.DateTimeField()  # the last time; only the link of that email is valid

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        ordering = ["-sent_at", "-pk"]

    def __str__(self) -> str:
        # Without the address, because logs contain it.
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    @property
    def expires_at(self) -> datetime:
        return self.sent_at + self.MAX_AGE

    def is_expired(self, *, at: datetime) -> bool:
        return at >= self.expires_at
