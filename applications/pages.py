"""The pages of applicants: their applications, opened with their account or with the link of a
receipt.
"""

import json
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import wraps

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import SetPasswordForm
from django.core.exceptions import ObjectDoesNotExist
from django.core.paginator import Paginator
from django.db.models import ProtectedError, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from applications import operations, privacy
from applications.mail.preferences import may_have_calendar
from applications.models import Application, Offer, Participant, Slot
from applications.operations.slots import (
    ChoiceClosedError,
    TakenError,
    choose,
    free_slots,
    is_changeable,
    open_offers,
)
from applications.querysets import accounts_with
from applications.submissions.answers import answers
from applications.submissions.links import MAX_AGE, opened_by
from jobsite.accounts import pages as accounts
from jobsite.api.absolute_urls import base_url
from jobsite.text.formats import format_datetime, format_period
from jobsite.types import JsonObject, StrOrPromise, UserRequest

logger = logging.getLogger(__name__)

PER_PAGE = 20
ID = re.compile("[0-9]{1,18}", re.ASCII)
View = Callable[..., HttpResponse]
get_or_post = require_http_methods(["GET", "HEAD", "POST"])


# --- Access --------------------------------------------------------------------------------------


def by_link(view: View) -> View:
    """Call `view` with the application that the token of the URL opens. The URL grants access:
    whoever has it reads the mailbox of the applicant. A POST records that; a GET does not, because
    mail scanners open links.

    The Referer has no path: other pages must not see the token. It is not left out, because
    browsers then send `Origin: null` with forms, which the CSRF protection refuses
    (docs/decisions.md #161).
    """

    @accounts.page
    @wraps(view)
    def answer(request: HttpRequest, token: str) -> HttpResponse:
        application = opened_by(token)
        if application is None:
            context = {"heading": _("This link is not valid"), "days": MAX_AGE.days}
            response = render(request, "applications/link_expired.html", context, status=404)
        else:
            if request.method == "POST":
                operations.verify(application=application, at=timezone.now())
            base = reverse("application-receipt", args=[token])
            response = view(request, application, base=base, is_by_link=True)
        response["Referrer-Policy"] = "strict-origin"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return answer


def by_account(view: View) -> View:
    """Call `view` with an application of the signed-in user, else respond with 404."""

    @signed_in
    @wraps(view)
    def answer(request: UserRequest, pk: int) -> HttpResponse:
        application = Application.objects.of(request.user).filter(pk=pk).first()
        if application is None:
            context = {"heading": _("There is no such application")}
            return render(request, "applications/not_found.html", context, status=404)
        base = reverse("application-own", args=[pk])
        return view(request, application, base=base, is_by_link=False)

    return answer


def signed_in(view: View) -> View:
    return accounts.page(login_required(view, login_url="account-login"))


def by_its_owner(view: View) -> View:
    """Let only its user manage an application that belongs to an account:
    others may have the link, too.
    """

    @wraps(view)
    def answer(
        request: HttpRequest, application: Application, *, base: str, is_by_link: bool
    ) -> HttpResponse:
        if not _is_manageable(request, application):
            return redirect(base)
        return view(request, application, base=base, is_by_link=is_by_link)

    return answer


def _is_manageable(request: HttpRequest, application: Application) -> bool:
    return application.user_id in (None, request.user.pk)


# --- One application ------------------------------------------------------------------------------


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
    return _application(request, application, base=base, is_by_link=is_by_link)


@require_safe
def application(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Show the status of an application, its steps and what was stored."""
    return _application(request, application, base=base, is_by_link=is_by_link)


def _application(
    request: HttpRequest,
    application: Application,
    *,
    base: str,
    is_by_link: bool,
    error: StrOrPromise = "",
    status: int = 200,
) -> HttpResponse:
    at = timezone.now()
    found = (
        Application.objects.filter(pk=application.pk)
        .select_related("submission__snapshot")
        .with_visible_status()
    )
    application = get_object_or_404(found.prefetch_related("submission__files"))
    submission = getattr(application, "submission", None)
    context: JsonObject = {
        "heading": application.vacancy.title,
        "employer": application.vacancy.brand,
        "is_wide": True,
        "application": _summary_of(application, at),
        "row": application,
        "sections": answers(submission) if submission else (),
        "invitations": _invitations(application, at),
        "offers": _offers(application, at),
        "is_manageable": _is_manageable(request, application),
        "consent": operations.open_request(application),
        "is_withdrawable": application.is_withdrawable(at=at),
        "base": base,
        "is_by_link": is_by_link,
        "error": error,
    }
    if is_by_link:
        context |= _offer(request, application)
    return render(request, "applications/application.html", context, status=status)


def _summary_of(application: Application, at: datetime) -> dict[str, object]:
    shown = application.visible_status(at=at)
    steps = application.visible_history if settings.APPLICATION_HISTORY else ()
    return {
        "pk": application.pk,
        "title": application.vacancy.title,
        "status": shown.label(translation.get_language() or "") if shown else "",
        "sent": format_datetime(application.created_at),
        "withdrawn": format_datetime(application.withdrawn_at) if application.withdrawn_at else "",
        "reference": application.reference,
        "steps": [(step.when, step.name, step.result) for step in steps],
    }


def _invitations(application: Application, at: datetime) -> QuerySet[Participant]:
    """Return the invitations of the applicant to interviews that have not ended."""
    coming = application.history.visible().interviews(since=at)
    rows = Participant.objects.filter(entry__in=coming, user=None).select_related(
        "entry__application"
    )
    return rows.order_by("entry__planned_at", "pk")


def _offers(application: Application, at: datetime) -> list[dict[str, object]]:
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


def _offer(request: HttpRequest, application: Application) -> dict[str, object]:
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
@require_POST
def reply(
    request: HttpRequest, application: Application, *, base: str, **place: object
) -> HttpResponse:
    """Record the posted answer to an invitation to an interview."""
    at = timezone.now()
    entry, answer = request.POST.get("interview", ""), request.POST.get("reply", "")
    answers = (Participant.Reply.ACCEPTED, Participant.Reply.DECLINED)
    invited = (
        _invitations(application, at).filter(entry=int(entry)) if ID.fullmatch(entry) else None
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
    return _application(
        request, application, base=base, is_by_link=is_by_link, error=error, status=409
    )


@by_its_owner
@get_or_post
def withdraw(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Ask for a confirmation, then withdraw the application."""
    if request.method == "POST":
        try:
            operations.withdraw_application(
                application=application, base_url=base_url(request), at=timezone.now()
            )
        except operations.DecidedError:
            error = _("This application has a result. It can no longer be withdrawn.")
            return _application(
                request, application, base=base, is_by_link=is_by_link, error=error, status=409
            )
        except Application.DoesNotExist:
            raise Http404 from None
        return redirect(base)
    context = {"heading": _("Withdraw this application?"), "application": application, "base": base}
    context["employer"] = application.vacancy.brand
    return render(request, "applications/withdraw.html", context)


@by_its_owner
@get_or_post
def delete(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Ask for a confirmation, then delete the application and all its data."""
    error: StrOrPromise = ""
    if request.method == "POST":
        try:
            privacy.erase_application(application=application)
            return redirect("application-deleted" if is_by_link else "account")
        except OSError as failure:
            error = _not_recorded(failure)
    context = {
        "heading": _("Delete this application?"),
        "employer": application.vacancy.brand,
        "error": error,
        "application": application,
        "base": base,
        "is_by_link": is_by_link,
    }
    return render(request, "applications/delete.html", context, status=503 if error else 200)


def _not_recorded(failure: OSError) -> StrOrPromise:
    """Log that ERASURE_LOG cannot be written, and return the error for the applicant."""
    logger.error("ERASURE_LOG cannot be written; nothing was deleted: %s", failure)
    return _("Your data cannot be deleted at the moment. Nothing was deleted. Try again later.")


@by_its_owner
@require_POST
def consent(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Take the answer to the question whether the application may be stored. "No" erases it."""
    place: JsonObject = {"base": base, "is_by_link": is_by_link}
    given = request.POST.get("answer")
    if given not in ("yes", "no"):
        return _application(request, application, **place, error=_("Answer yes or no."), status=422)
    must_erase = operations.answer(
        application=application,
        is_agreed=given == "yes",
        base_url=base_url(request),
        at=timezone.now(),
    )
    if not must_erase:
        return redirect(base)
    try:
        privacy.erase_application(application=application)
    except OSError as failure:
        return _application(request, application, **place, error=_not_recorded(failure), status=503)
    return redirect("application-deleted" if is_by_link else "account")


@by_its_owner
@require_safe
def export(request: HttpRequest, application: Application, **place: object) -> HttpResponse:
    """Send what the applicant sees of the application as a JSON file."""
    return _download(privacy.export_application(application=application, now=timezone.now()))


def _download(data: JsonObject) -> HttpResponse:
    text = json.dumps(data, ensure_ascii=False, indent=2, default=str)
    response = HttpResponse(text, content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="applications.json"'
    return response


@accounts.page
@require_safe
def deleted(request: HttpRequest) -> HttpResponse:
    return render(request, "applications/deleted.html", {"heading": _("Your data was deleted")})


# --- From the link to an account ------------------------------------------------------------------


@get_or_post
def create_account(
    request: HttpRequest, application: Application, *, base: str, **place: object
) -> HttpResponse:
    """Create an account for the address of the link, and sign in."""
    user = operations.new_account(application)
    if user is None or _offer(request, application)["offer"] != "create":
        return redirect(base)  # that page says why
    form = SetPasswordForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        password = form.cleaned_data["new_password1"]
        try:
            user = operations.create_account(
                proven=application, password=password, at=timezone.now()
            )
        except operations.AccountExistsError:
            return redirect(base)
        return accounts.enter(request, user, reverse("account"))
    context = {
        "heading": _("Create an account"),
        "form": form,
        "base": base,
        "username": user.username,
    }
    return render(request, "applications/create_account.html", context)


@require_POST
def claim(
    request: HttpRequest, application: Application, *, base: str, **place: object
) -> HttpResponse:
    """Add the applications from the address of the link to the account of the signed-in user."""
    if not request.user.is_authenticated:
        return redirect(base)
    with suppress(ObjectDoesNotExist):  # the account was deleted meanwhile
        operations.claim(proven=application, user=request.user, at=timezone.now())
    return redirect("account")


# --- The account ----------------------------------------------------------------------------------


@signed_in
@require_safe
def account(request: UserRequest) -> HttpResponse:
    """Show the applications of the current user, and links to manage the account."""
    at = timezone.now()
    rows = Application.objects.of(request.user).newest_first().with_visible_status()
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "heading": _("Your account"),
        "is_wide": True,
        "has_factors": accounts.HAS_FACTORS,
        "has_calendar": may_have_calendar(request.user),
        "page": page,
        "applications": [_summary_of(each, at) for each in page],
    }
    return render(request, "registration/account.html", context)


@signed_in
@require_safe
def export_account(request: UserRequest) -> HttpResponse:
    """Send the data about the current user as a JSON file."""
    return _download(privacy.export(user=request.user, now=timezone.now(), is_own=True))


@signed_in
@get_or_post
def delete_account(request: UserRequest) -> HttpResponse:
    """Ask for the password, then delete the account of the current user with
    all its applications.
    """
    user = request.user
    form = accounts.PasswordForm(request, request.POST if request.method == "POST" else None)
    context = {"heading": _("Delete your account?"), "form": form, "user": user}
    context["count"] = Application.objects.of(user).count()
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            privacy.erase(user=user)
        except (privacy.StaffAccountError, ProtectedError):
            context["is_refused"], status = True, 409
        except privacy.NoSuchAccountError:
            return redirect("application-deleted")
        except OSError as failure:
            context["error"], status = _not_recorded(failure), 503
        else:
            request.session.flush()
            return redirect("application-deleted")
    return render(request, "applications/delete_account.html", context, status=status)
