"""What an interview and times to choose from have: the length, the place, the colleagues."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
)

from applications.models import Application, Interview
from applications.querysets import readers_of
from jobsite.fields import PastedURLField
from jobsite.languages import supported
from jobsite.text.names import person
from vacancies.models import Vacancy

MINUTES_MAX = 24 * 60
KEPT = ("zone", "place", "video_url")  # from the author's last interview for the vacancy


@cache
def zones() -> list[tuple[str, str]]:
    """Return the time zones that are named after a place, and UTC."""
    named = (name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [(name, name) for name in sorted({*named, settings.TIME_ZONE, "UTC"})]


def in_zone(name: str) -> AbstractContextManager[None]:
    """Make the time zone of a meeting the current one; that of the site if there is none `name`."""
    return timezone.override(name if name in dict(zones()) else settings.TIME_ZONE)


def ends_at(start: datetime, minutes: int) -> datetime:
    """Return the end. In UTC: in a time zone, Python adds to what the clocks show."""
    return start.astimezone(UTC) + timedelta(minutes=minutes)


class ColleaguesField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return person(obj)


class MeetingForm(forms.Form):
    """What an interview and times to choose from have.
    Read it with its zone as the current time zone.
    """

    name = forms.CharField(
        label=_("Name"),
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("The applicant sees it."),
    )
    minutes = forms.IntegerField(
        label=_("Length in minutes"),
        min_value=1,
        max_value=MINUTES_MAX,
        initial=60,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    zone = forms.ChoiceField(label=_("Time zone"), choices=zones, widget=UnfoldAdminSelectWidget)
    place = forms.CharField(
        label=_("Place"), required=False, max_length=300, widget=UnfoldAdminTextInputWidget
    )
    video_url = PastedURLField(
        label=_("Link of the video call"),
        required=False,
        max_length=500,
        assume_scheme="https",
        widget=UnfoldAdminURLInputWidget,
    )
    details = forms.CharField(
        label=_("Details"),
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text=_("For the applicant and the colleagues: whom to ask for, what to bring."),
    )
    colleagues = ColleaguesField(
        User.objects.none(),
        label=_("Colleagues"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    def offer_colleagues(self, vacancy: Vacancy, application: int | None, *others: Q) -> None:
        """Offer those who may read `application`, or all to `vacancy`, and `others`."""
        wanted = Q(pk__in=readers_of(vacancy, application).values("pk"))
        for each in others:
            wanted |= each
        colleagues: Any = self.fields["colleagues"]
        people = User.objects.filter(wanted)
        colleagues.queryset = people.order_by("first_name", "last_name", "username")

    def clean_video_url(self) -> str:
        url: str = self.cleaned_data["video_url"]
        if url and not url.startswith("https://"):
            raise ValidationError(gettext("Enter an address that begins with https://."))
        return url


def initial_meeting(application: Application, user: User) -> dict[str, Any]:
    """Return what `user` probably wants:
    the place and colleagues of their last interview for the vacancy.
    """
    own = Interview.objects.filter(author=user)
    last = own.order_by("pk").last()
    here = own.filter(application__vacancy=application.vacancy_id).order_by("pk").last()
    code = application.language
    with translation.override(supported(code)):
        name = gettext("Interview")
    initial: dict[str, Any] = {"name": name, "zone": last.zone if last else settings.TIME_ZONE}
    if here:
        initial |= {name: getattr(here, name) for name in ("name", *KEPT)}
        initial["colleagues"] = [
            pk for pk in here.participants.values_list("user", flat=True) if pk
        ]
    return initial
