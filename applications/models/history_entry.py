"""Interviews and tasks of an application."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application
from applications.querysets import HistoryQuerySet, InterviewQuerySet
from jobsite.fields import WebURLField
from jobsite.text.formats import format_datetime, format_period


class HistoryEntry(models.Model):
    """A scheduled step of an application, and its result. Use `Interview` or `Task` where it
    matters which one it is.
    """

    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="history", verbose_name=_("application")
    )
    name = models.CharField(_("name"), max_length=200)
    result = models.CharField(_("result"), max_length=200, blank=True, default="")
    planned_at = models.DateTimeField(_("scheduled for"))
    is_visible = models.BooleanField(_("visible to the applicant"), default=False)
    # Deleted when its source drops it.
    is_imported = models.BooleanField(default=False, editable=False)
    # Of interviews only.
    ends_at = models.DateTimeField(null=True, blank=True, editable=False)
    zone = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    place = models.CharField(max_length=300, blank=True, default="", db_default="", editable=False)
    video_url = WebURLField(max_length=500, db_default="", editable=False)
    details = models.TextField(
        max_length=2000, blank=True, default="", db_default="", editable=False
    )
    # Of the calendar entry, which it keeps; a task has none. `sequence` grows with each sending of emails.
    uid = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)
    sequence = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    is_cancelled = models.BooleanField(
        _("cancelled"), default=False, db_default=False, editable=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now, editable=False)

    objects = HistoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("interview or task")
        verbose_name_plural = _("interviews and tasks")
        ordering = ["planned_at", "created_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("planned_at")), name="step_ends_after_start"
            ),
            models.UniqueConstraint(fields=["uid"], condition=~Q(uid=""), name="step_uid_once"),
        ]
        indexes = [models.Index("planned_at", condition=~Q(uid=""), name="interviews_by_time")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_interview(self) -> bool:
        return bool(self.uid)

    @property
    def when(self) -> str:
        """When it is: an interview in its own time zone, a task in the site's."""
        if self.ends_at is None:
            return format_datetime(self.planned_at)
        return format_period(self.planned_at, self.ends_at, self.zone)


AllInterviews = models.Manager.from_queryset(InterviewQuerySet)
AllTasks = models.Manager.from_queryset(HistoryQuerySet)


class InterviewManager(AllInterviews):
    def get_queryset(self) -> InterviewQuerySet:
        return InterviewQuerySet(self.model, using=self._db).exclude(uid="")


class TaskManager(AllTasks):
    def get_queryset(self) -> HistoryQuerySet:
        return HistoryQuerySet(self.model, using=self._db).filter(uid="")


class Interview(HistoryEntry):
    """A step with a calendar entry, in which people take part."""

    # Narrower than that of all steps, which the type checker does not allow.
    objects: ClassVar["InterviewManager[Interview]"] = InterviewManager()  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("interview")
        default_permissions = ()  # whoever may change the application


class Task(HistoryEntry):
    """A step of the recruiters."""

    objects: ClassVar["TaskManager[Task]"] = TaskManager()  # type: ignore[assignment]

    class Meta:
        proxy = True
        verbose_name = _("interview or task")  # the history of an application names both kinds so
        verbose_name_plural = _("interviews and tasks")
        default_permissions = ()
