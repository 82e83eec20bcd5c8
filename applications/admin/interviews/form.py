"""The form of an interview."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import RegexValidator
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from applications.admin.interviews.meeting import KEPT, MeetingForm, ends_at, initial_meeting
from applications.models import Interview, Participant
from applications.operations import interviews as operations
from jobsite.admin.datetime_fields import ZonedDateTimeField, ZonedDateTimeWidget


class StartWidget(ZonedDateTimeWidget):
    """Without the name of the time zone, which has a field of its own."""

    names_zone = False


class InterviewForm(MeetingForm):
    """An interview. `seen` tells whether somebody else changed it since; `uid`, which the page
    chooses, whether it was scheduled already.
    """

    field_order = (
        *(
            "name",
            "starts_at",
            "minutes",
            "zone",
            "place",
            "video_url",
            "details",
            "colleagues",
            "invites",
        ),
        "result",
    )
    uid = forms.CharField(
        widget=forms.HiddenInput, validators=[RegexValidator(r"\A[0-9a-f]{32}\Z")]
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    starts_at = ZonedDateTimeField(
        label=pgettext_lazy("of an interview", "Start"), widget=StartWidget
    )
    invites = forms.BooleanField(
        label=_("Invite the applicant"), required=False, widget=UnfoldBooleanWidget
    )
    result = forms.CharField(
        label=_("Result"),
        required=False,
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("The applicant sees it. No email is sent about it."),
    )

    def __init__(self, *args: Any, entry: Interview, now: datetime, **kwargs: Any) -> None:
        self.entry, self.now = entry, now
        super().__init__(*args, **kwargs)
        taking_part = Participant.objects.filter(entry=entry.pk or 0).exclude(user=None)
        self.offer_colleagues(
            entry.application.vacancy, entry.application_id, Q(pk__in=taking_part.values("user"))
        )
        if not entry.application.address:
            self.fields["invites"].label = gettext("Show it to the applicant")
            self.fields["invites"].help_text = gettext("Without an email: there is no address.")
        if entry.pk is None:
            del self.fields["result"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        start, minutes = data.get("starts_at"), data.get("minutes")
        if start and start != self.entry.planned_at and start <= self.now:
            self.add_error("starts_at", gettext("This time has passed. Choose a later one."))
        if not (data.get("colleagues") or data.get("invites") or self.errors):
            self.add_error(
                "colleagues", gettext("Choose at least one colleague, or invite the applicant.")
            )
        if start and minutes:
            data["ends_at"] = ends_at(start, minutes)
        return data

    def plan(self) -> operations.InterviewPlan:
        """Return what was entered. Requires `is_valid()`."""
        try:
            seen = datetime.fromisoformat(self.cleaned_data["seen"])
        except ValueError:
            seen = None
        return operations.InterviewPlan(
            entry=self._filled_entry(),
            colleagues=list(self.cleaned_data["colleagues"]),
            invites_applicant=self.cleaned_data["invites"],
            seen=seen,
        )

    def _filled_entry(self) -> Interview:
        entry, data = self.entry, self.cleaned_data
        entry.planned_at, entry.ends_at = data["starts_at"], data["ends_at"]
        for name in ("uid", "name", "zone", "place", "video_url", "details"):
            setattr(entry, name, data[name])
        entry.result = data.get("result", entry.result)
        return entry


def initial_interview(entry: Interview, user: User) -> dict[str, Any]:
    if entry.pk:
        people = list(entry.participants.values_list("user", flat=True))
        length = (entry.ends_at - entry.planned_at) if entry.ends_at else timedelta(hours=1)
        return {
            "uid": entry.uid,
            "seen": entry.updated_at.isoformat(),
            "starts_at": entry.planned_at,
            "minutes": int(length.total_seconds() // 60),
            "colleagues": [pk for pk in people if pk],
            "invites": entry.is_visible,
            **{name: getattr(entry, name) for name in ("name", "details", "result", *KEPT)},
        }
    return initial_meeting(entry.application, user) | {
        "uid": secrets.token_hex(16),
        "invites": True,
    }
