"""The interviews of an application: scheduling one, changing, answering and cancelling it."""

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern
from django.utils import timezone, translation
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanWidget,
)

from applications.admin.access_log import log_access
from applications.admin.parts import CHANGE, ApplicationPages
from applications.mail.calendars import method_of
from applications.models import Access, Application, HistoryEntry, Message, Participant
from applications.operations import interviews as operations
from applications.operations.slots import free_slots, open_offers
from applications.querysets import readers_of
from jobsite.admin.base import as_id, posted_again
from jobsite.admin.datetime_fields import ZonedDateTimeField, ZonedDateTimeWidget
from jobsite.api.absolute_urls import base_url
from jobsite.fields import PastedURLField
from jobsite.languages import supported
from jobsite.text.formats import format_date
from jobsite.text.names import person
from jobsite.types import Context, UserRequest
from vacancies.models import Vacancy

VIEW = "applications.view_application"
MINUTES_MAX = 24 * 60
KEPT = ("zone", "place", "video_url")  # from the author's last interview for the vacancy


@cache
def zones() -> list[tuple[str, str]]:
    """Return the time zones that are named after a place, and UTC."""
    named = (name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [(name, name) for name in sorted({*named, settings.TIME_ZONE, "UTC"})]


def ends_at(start: datetime, minutes: int) -> datetime:
    """Return the end. In UTC: in a time zone, Python adds to what the clocks show."""
    return start.astimezone(UTC) + timedelta(minutes=minutes)


class StartWidget(ZonedDateTimeWidget):
    """Without the name of the time zone, which has a field of its own."""

    names_zone = False


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

    def offer_colleagues(self, vacancy: Vacancy, *others: Q) -> None:
        """Offer those who may read the applications to `vacancy`, and `others`."""
        wanted = Q(pk__in=readers_of(vacancy).values("pk"))
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

    def __init__(self, *args: Any, entry: HistoryEntry, now: datetime, **kwargs: Any) -> None:
        self.entry, self.now = entry, now
        super().__init__(*args, **kwargs)
        taking_part = Participant.objects.filter(entry=entry.pk or 0).exclude(user=None)
        self.offer_colleagues(entry.application.vacancy, Q(pk__in=taking_part.values("user")))
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

    def _filled_entry(self) -> HistoryEntry:
        entry, data = self.entry, self.cleaned_data
        entry.planned_at, entry.ends_at = data["starts_at"], data["ends_at"]
        for name in ("uid", "name", "zone", "place", "video_url", "details"):
            setattr(entry, name, data[name])
        entry.result = data.get("result", entry.result)
        return entry


class InterviewPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        views = {
            "interview": self.interview,
            "cancel-interview": self.cancel,
            "reply-interview": self.reply,
        }
        return self.object_urls(views)

    # --- scheduling and changing ---

    def interview(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Schedule an interview, or change the one of the parameter `entry`: fill in, preview,
        send. Only the last step writes. What was posted is kept at every step.
        """
        application = self.application_or_404(request, object_id, CHANGE)
        now = timezone.now()
        entry = self._entry(request, application)
        initial = _initial(entry, request.user)
        data = request.POST if request.method == "POST" else None
        zone = (data or initial).get("zone", "")
        with timezone.override(zone if zone in dict(zones()) else settings.TIME_ZONE):
            form = InterviewForm(data, initial=initial, entry=entry, now=now)
            emails = None
            if data and data.get("step") != "edit" and form.is_valid():
                plan, author = form.plan(), request.user
                try:
                    if data.get("step") == "send":
                        operations.save_interview(
                            plan, author=author, base_url=base_url(request), at=now
                        )
                        return self._saved(request, application, form)
                    emails = operations.planned_emails(
                        plan, author=author, base_url=base_url(request), at=now
                    )
                except operations.InterviewChangedError:
                    text = gettext(
                        "A colleague scheduled, changed or cancelled it in the meantime."
                    )
                    self.message(request, text, messages.WARNING)
                    return self._back(request, application)
            return self._page(request, application, form, emails)

    def _entry(self, request: UserRequest, application: Application) -> HistoryEntry:
        if "entry" not in request.GET:
            return HistoryEntry(application=application)
        entry = self._entry_of(application, request.GET["entry"])
        entry.application = application
        return entry

    def _entry_of(self, application: Application, pk: str | None) -> HistoryEntry:
        rows = HistoryEntry.objects.interviews().filter(application=application)
        return get_object_or_404(rows, pk=as_id(pk))

    def _saved(
        self, request: UserRequest, application: Application, form: InterviewForm
    ) -> HttpResponse:
        log_access(request.user, Access.CHANGE, application.pk)
        text = gettext("Interview: %(when)s.") % {"when": form.entry.when}
        self.message(request, text, messages.SUCCESS)
        return self._back(request, application)

    def _page(
        self,
        request: UserRequest,
        application: Application,
        form: InterviewForm,
        emails: list[Message] | None,
    ) -> HttpResponse:
        log_access(request.user, Access.VIEW, application.pk)
        name = {"name": application.display_name}
        new, changed = (
            gettext("Interview with %(name)s"),
            gettext("Change the interview with %(name)s"),
        )
        title = changed if form.entry.pk else new
        context = {
            "media": self.admin.media,
            "application": application,
            "form": form,
            "entry": form.entry,
            "previews": _previews(emails or []),
            "is_previewed": emails is not None,
            "lacks_pay": Application.objects.filter(pk=application.pk).pay_not_told().exists(),
            "overlaps": _overlaps(form) if emails is not None else [],
            "repeated": posted_again(request, "step"),
            "back": self.page_of(request, application, "interviews"),
        }
        response = render(
            request,
            "admin/applications/application/interviews/interview.html",
            self.context(request, title % name, **context),
            status=422 if form.is_bound and form.errors else 200,
        )
        response["Cache-Control"] = "private, no-store"
        return response

    def _back(self, request: UserRequest, application: Application) -> HttpResponse:
        return redirect(self.page_of(request, application, "interviews"))

    # --- cancelling and answering ---

    def cancel(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET asks whether to cancel the interview of the parameter `entry`, and names who is told.
        POST does it.
        """
        application = self.application_or_404(request, object_id, CHANGE)
        entry = self._entry_of(application, request.GET.get("entry"))
        if request.method == "POST":
            count = operations.cancel_interviews(
                [entry], author=request.user, base_url=base_url(request), at=timezone.now()
            )
            log_access(request.user, Access.CHANGE, application.pk)
            if count:
                self.message(request, gettext("The interview was cancelled."), messages.SUCCESS)
            return self._back(request, application)
        context = {
            "application": application,
            "entry": entry,
            "people": [
                each.name
                for each in entry.participants.select_related("user", "entry__application")
            ],
            "back": self.page_of(request, application, "interviews"),
        }
        title = gettext("Cancel the interview?")
        template = "admin/applications/application/interviews/cancel_interview.html"
        return render(request, template, self.context(request, title, **context))

    def reply(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Record the posted reply of the user to an invitation."""
        application = self.posted_to(request, object_id, VIEW)
        entry = self._entry_of(application, request.POST.get("entry"))
        mine = get_object_or_404(entry.participants, user=request.user)
        answer = request.POST.get("reply")
        if answer not in (Participant.Reply.ACCEPTED, Participant.Reply.DECLINED):
            raise Http404
        operations.reply(
            participant=mine,
            reply=Participant.Reply(answer),
            base_url=base_url(request),
            at=timezone.now(),
        )
        self.message(request, gettext("Your answer was saved."), messages.SUCCESS)
        return self._back(request, application)


def interviews_context(
    user: User, application: Application, entries: Iterable[HistoryEntry], *, now: datetime
) -> Context:
    """Return the interviews among the `entries` of `application`, for its page."""
    shown = []
    for entry in (each for each in entries if each.uid):
        entry.application = application
        people = list(entry.participants.all())
        for each in people:
            each.entry = entry
        is_over = entry.ends_at is not None and entry.ends_at <= now
        mine = next((each for each in people if each.user_id == user.pk), None)
        shown.append(
            {
                "entry": entry,
                "people": people,
                "is_over": is_over,
                "mine": mine if mine and not (is_over or entry.is_cancelled) else None,
            }
        )
    offers = [
        {
            "offer": each,
            "free": len(free_slots(each.set, at=now)),
            "until": format_date(each.set.last_day),
        }
        for each in open_offers(application, at=now)
        if each.entry is None
    ]
    return {"interviews": shown, "offers": offers}


def _initial(entry: HistoryEntry, user: User) -> dict[str, Any]:
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


def initial_meeting(application: Application, user: User) -> dict[str, Any]:
    """Return what `user` probably wants:
    the place and colleagues of their last interview for the vacancy.
    """
    own = HistoryEntry.objects.exclude(uid="").filter(author=user)
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


def _previews(emails: list[Message]) -> list[dict[str, Any]]:
    """Return one email of each kind that is sent, and who gets it: the applicant and the colleagues
    have different texts, and so have invitations and cancellations.
    """
    found: dict[tuple[bool, str, str], dict[str, Any]] = {}
    for each in emails:
        key = (each.recipient_id is None, method_of(each.calendar), each.subject)
        shown = found.setdefault(
            key,
            {
                "email": each,
                "sender": each.sender or settings.DEFAULT_FROM_EMAIL,
                "language": each.language,
                "people": [],
            },
        )
        shown["people"].append(person(each.recipient) if each.recipient else each.to)
    return sorted(found.values(), key=lambda shown: shown["email"].recipient_id is not None)


def _overlaps(form: InterviewForm) -> list[str]:
    """Return who has another interview at this time. It says no more:
    it may be of another brand.
    """
    data = form.cleaned_data
    others: QuerySet[HistoryEntry] = HistoryEntry.objects.interviews(
        since=data["starts_at"], until=data["ends_at"]
    ).exclude(uid=data["uid"])
    text = gettext("%(name)s has another interview: %(when)s.")
    busy = Participant.objects.filter(entry__in=others, user__in=data["colleagues"]).exclude(
        reply="declined"
    )
    found = [
        text % {"name": each.name, "when": each.entry.when}
        for each in busy.select_related("user", "entry").order_by("entry__planned_at", "pk")
    ]
    application = form.entry.application
    own = others.filter(application=application)
    return [*found, *(text % {"name": application.display_name, "when": each.when} for each in own)]
