"""Offering times that applicants choose from: one of them, or a selection."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSingleDateWidget,
    UnfoldAdminSingleTimeWidget,
)

from applications.admin.access_log import log_access
from applications.admin.interviews.pages import MeetingForm, initial_meeting, zones
from applications.admin.parts import CHANGE, ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.models import Access, Application, Offer, SlotSet
from applications.operations.slots import SLOTS_MAX, OfferedTimes, offer_slots, planned_offers
from jobsite.admin.base import as_id, posted_again
from jobsite.admin.datetime_fields import DateField, is_ambiguous, readings
from jobsite.admin.selection import way_back
from jobsite.api.absolute_urls import base_url
from jobsite.text.formats import format_period
from jobsite.types import UserRequest
from vacancies.dates import end_of_day

ROWS = range(1, 7)  # periods of time
COLUMNS = ("day", "from", "until")


class SlotsForm(MeetingForm):
    """Times to choose from: periods, each of which is divided into interviews.
    `starts` are their begins.
    """

    notice_hours = forms.IntegerField(
        label=_("Hours of notice"),
        min_value=0,
        max_value=24 * 14,
        initial=24,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Until then, a time can be chosen, and given up for another one."),
    )
    closes_on = DateField(
        label=_("Choose until"),
        widget=UnfoldAdminSingleDateWidget,
        help_text=_("The end of this day."),
    )

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        self.now = now
        self.starts: list[datetime] = []
        super().__init__(*args, **kwargs)
        for row in ROWS:
            number = {"number": row}
            self.fields[f"day{row}"] = DateField(
                label=gettext("Day %(number)d") % number,
                required=False,
                widget=UnfoldAdminSingleDateWidget,
            )
            for name, label in (
                ("from", gettext("From %(number)d")),
                ("until", gettext("Until %(number)d")),
            ):
                self.fields[f"{name}{row}"] = forms.TimeField(
                    label=label % number, required=False, widget=UnfoldAdminSingleTimeWidget
                )
        texts = dict(zip(COLUMNS, (gettext("Day"), gettext("From"), gettext("Until")), strict=True))
        for name, field in self.fields.items():
            if name[-1].isdigit():
                shown = {"aria-label": field.label, "placeholder": texts[name[:-1]]}
                field.widget.attrs.update(shown)

    def rows(self) -> list[list[forms.BoundField]]:
        return [[self[f"{name}{row}"] for name in COLUMNS] for row in ROWS]

    def others(self) -> list[forms.BoundField]:
        inside = {f"{name}{row}" for row in ROWS for name in COLUMNS}
        return [field for field in self.visible_fields() if field.name not in inside]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        starts: set[datetime] = set()
        for row in ROWS:
            day, start, end = (data.get(f"{name}{row}") for name in COLUMNS)
            if (day, start, end) != (None, None, None):
                try:
                    starts |= set(self._starts(day, start, end, timedelta(minutes=data["minutes"])))
                except ValidationError as error:
                    self.add_error(f"day{row}", error)
        self.starts = sorted(starts)
        if not self.errors and not starts:
            self.add_error("day1", gettext("Enter at least one period."))
        if len(starts) > SLOTS_MAX:
            text = gettext("These are %(count)d times. At most %(max)d are allowed.")
            self.add_error("day1", text % {"count": len(starts), "max": SLOTS_MAX})
        closes_at = end_of_day(data["closes_on"], timezone.get_current_timezone())
        data["closes_at"] = closes_at
        if closes_at <= self.now:
            self.add_error("closes_on", gettext("This day has passed. Choose a later one."))
        return data

    def _starts(
        self, day: date | None, start: time | None, end: time | None, length: timedelta
    ) -> list[datetime]:
        """Return the begins of the interviews from `start` until `end`."""
        if day is None or start is None or end is None:
            raise ValidationError(gettext("Enter the day, and from when until when."))
        first, last = _instant(day, start), _instant(day, end)
        if first <= self.now:
            raise ValidationError(gettext("This time has passed. Choose a later one."))
        found = []
        while first + length <= last:
            found.append(first)
            first += length
        if not found:
            text = gettext("From %(start)s until %(end)s there is no time for an interview.")
            raise ValidationError(text % {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}"})
        return found

    def filled_set(self, author: Any, vacancy: Any) -> SlotSet:
        names = (
            "name",
            "minutes",
            "zone",
            "place",
            "video_url",
            "details",
            "notice_hours",
            "closes_at",
        )
        return SlotSet(
            author=author, vacancy=vacancy, **{name: self.cleaned_data[name] for name in names}
        )


def _instant(day: date, at: time) -> datetime:
    """Return the instant in the current time zone. Raise ValidationError if the clocks show it
    twice or skip it.
    """
    naive = datetime.combine(day, at)
    first, second = readings(naive)
    if first.utcoffset() != second.utcoffset():
        text = (
            gettext("The clocks show %(time)s twice on this day. Choose another time.")
            if is_ambiguous(naive)
            else gettext("The clocks skip %(time)s on this day. Choose another time.")
        )
        raise ValidationError(text % {"time": f"{at:%H:%M}"})
    return first.astimezone(UTC)


class SlotPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        own = self.object_urls({"withdraw-offer": self.withdraw})
        return [self.url("choose-times/", self.offer, "choose_times"), *own]

    def offer(self, request: UserRequest) -> HttpResponse:
        """POST: fill in the times for `applications`, preview, send. Only the last step writes."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not request.user.has_perm(CHANGE):
            raise PermissionDenied
        selection = ApplicationSelection.sent_by(request, self.admin.get_queryset(request))
        back = way_back(request, reverse("admin:applications_application_changelist"))
        return self.answer(request, selection, back)

    def answer(
        self, request: UserRequest, selection: ApplicationSelection, back: str
    ) -> HttpResponse:
        people = list(selection.addressed())
        if not people:
            raise BadRequest("applications names none of yours.")
        vacancy = people[0].vacancy
        if any(each.vacancy_id != vacancy.pk for each in people):
            text = gettext("Choose applications to one vacancy: the times are for its interviews.")
            self.message(request, text, messages.WARNING)
            return redirect(back)
        now, step = timezone.now(), request.POST.get("step", "")
        data = request.POST if step else None
        initial = initial_meeting(people[0], request.user)
        zone = (data or initial).get("zone", "")
        with timezone.override(zone if zone in dict(zones()) else settings.TIME_ZONE):
            form = SlotsForm(data, initial=initial, now=now)
            form.offer_colleagues(vacancy)
            emails = None
            if data and step != "edit" and form.is_valid():
                times = OfferedTimes(
                    slot_set=form.filled_set(request.user, vacancy),
                    starts=form.starts,
                    colleagues=list(form.cleaned_data["colleagues"]),
                    applications=list(selection.seen),
                )
                if step == "send":
                    sent = offer_slots(times, base_url=base_url(request), at=now)
                    told = [each.application_id for each in sent if each.application_id]
                    return self._sent(request, told, back)
                emails = planned_offers(times, base_url=base_url(request), at=now)
            return self._page(request, selection, people, form, emails, back)

    def _sent(self, request: UserRequest, told: list[int], back: str) -> HttpResponse:
        log_access(request.user, Access.CHANGE, *told)
        text = ngettext(
            "%(count)d applicant may choose a time.",
            "%(count)d applicants may choose a time.",
            len(told),
        )
        level = messages.SUCCESS if told else messages.WARNING
        self.message(request, text % {"count": len(told)}, level)
        return redirect(back)

    def _page(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        people: list[Application],
        form: SlotsForm,
        emails: list[Any] | None,
        back: str,
    ) -> HttpResponse:
        log_access(request.user, Access.VIEW, *selection.seen)
        told = {each.application_id for each in emails or ()}
        length = (
            timedelta(minutes=form.cleaned_data["minutes"]) if emails is not None else timedelta()
        )
        zone = timezone.get_current_timezone_name()
        context = {
            "media": self.admin.media,
            "form": form,
            "selection": selection,
            "people": [each for each in people if emails is None or each.pk in told],
            "left_out": [each for each in people if emails is not None and each.pk not in told],
            "lacks_pay": Application.objects.filter(pk__in=[each.pk for each in people])
            .pay_not_told()
            .exists(),
            "email": emails[0] if emails else None,
            "is_previewed": emails is not None,
            "times": [format_period(start, start + length, zone) for start in form.starts],
            "repeated": posted_again(request, "step", "action", "_selected_action"),
            "back": back,
        }
        title = gettext("Let applicants choose a time")
        response = render(
            request,
            "admin/applications/application/interviews/choose_times.html",
            self.context(request, title, **context),
            status=422 if form.is_bound and form.errors else 200,
        )
        response["Cache-Control"] = "private, no-store"
        return response

    def withdraw(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Withdraw the posted offer, in which no time was chosen yet."""
        application = self.posted_to(request, object_id, CHANGE)
        pk = as_id(request.POST.get("offer"))
        rows = Offer.objects.filter(application=application, entry=None, pk__in=[pk])
        if rows.delete()[0]:
            log_access(request.user, Access.CHANGE, application.pk)
            self.message(request, gettext("The applicant can no longer choose."), messages.SUCCESS)
        return redirect(self.page_of(request, application, "interviews"))
