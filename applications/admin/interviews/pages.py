"""The pages of interviews: scheduling one, changing, answering and cancelling it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext

from applications.admin.interviews.form import InterviewForm, initial_interview
from applications.admin.interviews.meeting import in_zone
from applications.admin.parts import CHANGE, ApplicationPages
from applications.mail.calendars import method_of
from applications.models import Access, Application, Interview, Message, Participant
from applications.operations import interviews as operations
from applications.operations.access_log import log_access
from jobsite.admin.base import as_id, posted_again
from jobsite.api.absolute_urls import base_url
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.models import Vacancy

VIEW = "applications.view_application"


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
        initial = initial_interview(entry, request.user)
        data = request.POST if request.method == "POST" else None
        with in_zone((data or initial).get("zone", "")):
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

    def _entry(self, request: UserRequest, application: Application) -> Interview:
        if "entry" not in request.GET:
            return Interview(application=application)
        entry = self._entry_of(application, request.GET["entry"])
        entry.application = application
        return entry

    def _entry_of(self, application: Application, pk: str | None) -> Interview:
        rows = Interview.objects.taking_place().filter(application=application)
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
            "team_url": _team_url(request, application),
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


def _team_url(request: UserRequest, application: Application) -> str:
    """Return the page that adds a colleague to the team, "" if the user may not."""
    own = Vacancy.objects.editable_by(request.user).filter(pk=application.vacancy_id)
    if not (request.user.has_perm("vacancies.change_vacancy") and own.exists()):
        return ""
    url = reverse("admin:vacancies_vacancy_team", args=[application.vacancy_id])
    return f"{url}?application={application.pk}"


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
    others: QuerySet[Interview] = Interview.objects.taking_place(
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
