"""The page of one application: its status, its steps and what was stored."""

import json
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from applications import operations, privacy
from applications.models import Application, Interview, Participant
from applications.operations.slots import (
    free_slots,
    is_changeable,
    open_offers,
)
from applications.pages.access import by_its_owner, get_or_post, is_manageable
from applications.querysets import accounts_with
from applications.submissions.answers import answers
from jobsite.days import months_after
from jobsite.text.formats import format_datetime, format_period
from jobsite.types import JsonObject, StrOrPromise


@get_or_post
def receipt(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Show the application, after a button that confirms the address. The form of the button posts
    to its own URL, so that browsers keep #interviews.
    """
    if request.method == "POST":
        return redirect(base)
    if application.verified_at is None:
        context = {"heading": _("Is this your application?"), "application": application}
        return render(request, "applications/confirm.html", context)
    return application_page(request, application, base=base, is_by_link=is_by_link)


@require_safe
def application(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Show the status of an application, its steps and what was stored."""
    return application_page(request, application, base=base, is_by_link=is_by_link)


def application_page(
    request: HttpRequest,
    application: Application,
    *,
    base: str,
    is_by_link: bool,
    error: StrOrPromise = "",
    status: int = 200,
) -> HttpResponse:
    """Return the page of `application`, with the `error` of what was tried on it."""
    at = timezone.now()
    found = (
        Application.objects.filter(pk=application.pk)
        .select_related("submission__snapshot")
        .with_visible_status()
    )
    application = get_object_or_404(found.prefetch_related("submission__files"))
    submission = getattr(application, "submission", None)
    context: JsonObject = {
        "heading": application.vacancy_title,
        "employer": application.vacancy.brand,
        "is_wide": True,
        "application": summary_of(application, at),
        "row": application,
        "sections": answers(submission) if submission else (),
        "invitations": invitations_of(application, at),
        "offers": offers_of(application, at),
        "is_manageable": is_manageable(request, application),
        "consent": operations.open_request(application),
        "pool": operations.pool_states([application.pk], at=at).get(application.pk),
        "pool_until": months_after(timezone.localdate(at), settings.POOL_MONTHS),
        "is_withdrawable": application.is_withdrawable(at=at),
        "base": base,
        "is_by_link": is_by_link,
        "error": error,
    }
    if is_by_link:
        context |= account_offer(request, application)
    return render(request, "applications/application.html", context, status=status)


def summary_of(application: Application, at: datetime) -> dict[str, object]:
    shown = application.visible_status(at=at)
    steps = application.visible_history if settings.APPLICATION_HISTORY else ()
    return {
        "pk": application.pk,
        "title": application.vacancy_title,
        "status": shown.label(translation.get_language() or "") if shown else "",
        "sent": format_datetime(application.created_at),
        "withdrawn": format_datetime(application.withdrawn_at) if application.withdrawn_at else "",
        "reference": application.reference,
        "steps": [(step.when, step.name, step.result) for step in steps],
    }


def invitations_of(application: Application, at: datetime) -> QuerySet[Participant]:
    """Return the invitations of the applicant to interviews that have not ended."""
    coming = Interview.objects.filter(application=application).visible().taking_place(since=at)
    rows = Participant.objects.filter(entry__in=coming, user=None).select_related(
        "entry__application"
    )
    return rows.order_by("entry__planned_at", "pk")


def offers_of(application: Application, at: datetime) -> list[dict[str, object]]:
    """Return the offers of times that can be chosen, each with its free times by their text."""
    return [
        {
            "offer": offer,
            "slots": [
                (slot, format_period(slot.starts_at, slot.ends_at, offer.set.zone))
                for slot in free_slots(offer.set, at=at)
            ],
        }
        for offer in open_offers(application, at=at)
        if is_changeable(offer, at=at)
    ]


def account_offer(request: HttpRequest, application: Application) -> dict[str, object]:
    """Return what the page of a link offers. It may say whether an account has the address: whoever
    opened the link reads its mailbox.
    """
    if application.user_id:
        return {"offer": "own" if application.user_id == request.user.pk else "sign in"}
    others = Application.objects.unclaimed(application.email).exclude(pk=application.pk).count()
    if request.user.is_authenticated:
        offer = "claim"
    elif accounts_with(application.email):
        offer = "sign in to claim"
    else:
        offer = "create" if operations.new_account(application) else ""
    return {"offer": offer, "others": others}


@by_its_owner
@require_safe
def export(request: HttpRequest, application: Application, **place: object) -> HttpResponse:
    """Send what the applicant sees of the application as a JSON file."""
    return download(privacy.export_application(application=application, now=timezone.now()))


def download(data: JsonObject) -> HttpResponse:
    text = json.dumps(data, ensure_ascii=False, indent=2, default=str)
    response = HttpResponse(text, content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="applications.json"'
    return response
