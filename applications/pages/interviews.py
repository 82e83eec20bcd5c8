"""Answering invitations to interviews, and choosing a time of one."""

import re

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from applications import operations
from applications.models import Application, Offer, Participant, Slot
from applications.operations.slots import (
    ChoiceClosedError,
    TakenError,
    choose,
)
from applications.pages.access import by_its_owner
from applications.pages.application import application_page, invitations_of
from jobsite.api.absolute_urls import base_url

ID = re.compile("[0-9]{1,18}", re.ASCII)


@by_its_owner
@require_POST
def reply(
    request: HttpRequest, application: Application, *, base: str, **place: object
) -> HttpResponse:
    """Record the posted answer to an invitation to an interview."""
    at = timezone.now()
    entry, answer = request.POST.get("interview", ""), request.POST.get("reply", "")
    answers = (Participant.Reply.ACCEPTED, Participant.Reply.DECLINED)
    invited = (
        invitations_of(application, at).filter(entry=int(entry)) if ID.fullmatch(entry) else None
    )
    participant = invited.first() if invited is not None else None
    if participant is None or answer not in answers:
        raise Http404
    operations.reply_to_interview(
        participant=participant, reply=Participant.Reply(answer), base_url=base_url(request), at=at
    )
    return redirect(f"{base}#interviews")


@by_its_owner
@require_POST
def choose_time(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Take the posted time, instead of the one that the applicant had."""
    at = timezone.now()
    names = [request.POST.get(name, "") for name in ("offer", "slot")]
    if not all(map(ID.fullmatch, names)):
        raise Http404
    offer, slot = map(int, names)
    found = Slot.objects.filter(
        pk=slot, set__offers=offer, set__offers__application=application
    ).first()
    if found is None:
        raise Http404
    try:
        own = Offer.objects.get(pk=offer, application=application)
        choose(offer=own, slot=found, base_url=base_url(request), at=at)
    except TakenError:
        error = _("This time was taken. Choose another one.")
    except (ChoiceClosedError, ObjectDoesNotExist):
        error = _("This time can no longer be chosen.")
    else:
        return redirect(f"{base}#interviews")
    return application_page(
        request, application, base=base, is_by_link=is_by_link, error=error, status=409
    )
