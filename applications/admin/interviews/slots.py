"""Offering times that applicants choose from: one of them, or a selection."""

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from applications.admin.interviews.meeting import in_zone, initial_meeting
from applications.admin.interviews.slots_form import SlotsForm
from applications.admin.parts import CHANGE, ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.models import Access, Application, Message, Offer
from applications.operations.access_log import log_access
from applications.operations.slots import OfferedTimes, offer_slots, planned_offers
from jobsite.admin.base import as_id, posted_again
from jobsite.admin.selection import way_back
from jobsite.api.absolute_urls import base_url
from jobsite.types import Context, UserRequest


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
        with in_zone((data or initial).get("zone", "")):
            form = SlotsForm(data, initial=initial, now=now)
            form.offer_colleagues(vacancy, None)
            emails: list[Message] | None = None
            if data and step != "edit" and form.is_valid():
                times = OfferedTimes(
                    slot_set=form.filled_set(request.user, vacancy),
                    starts=form.starts,
                    colleagues=list(form.cleaned_data["colleagues"]),
                    applications=list(selection.seen),
                )
                if step == "send":
                    emails = offer_slots(times, base_url=base_url(request), at=now)
                    return self._sent(request, emails, back)
                emails = planned_offers(times, base_url=base_url(request), at=now)
            return self._page(request, selection, people, form, emails, back)

    def _sent(self, request: UserRequest, emails: list[Message], back: str) -> HttpResponse:
        told = [each.application_id for each in emails if each.application_id]
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
        emails: list[Message] | None,
        back: str,
    ) -> HttpResponse:
        log_access(request.user, Access.VIEW, *selection.seen)
        told = selection.seen if emails is None else {each.application_id for each in emails}
        context = {
            "media": self.admin.media,
            "form": form,
            "selection": selection,
            "people": [each for each in people if each.pk in told],
            "left_out": [each for each in people if each.pk not in told],
            "lacks_pay": selection.rows().pay_not_told().exists(),
            **_preview(form, emails),
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


def _preview(form: SlotsForm, emails: list[Message] | None) -> Context:
    if emails is None:
        return {"is_previewed": False}
    return {"is_previewed": True, "email": emails[0] if emails else None, "times": form.times()}
