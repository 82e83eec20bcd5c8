"""What applicants change of an application: withdrawal, consents and deletion."""

import logging

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from applications import operations, privacy
from applications.models import Application
from applications.pages.access import by_its_owner, get_or_post, is_in_pool
from applications.pages.application import application_page
from jobsite.api.absolute_urls import base_url
from jobsite.types import JsonObject, StrOrPromise

logger = logging.getLogger(__name__)


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
            return application_page(
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
            error = not_recorded(failure)
    context = {
        "heading": _("Delete this application?"),
        "employer": application.vacancy.brand,
        "error": error,
        "application": application,
        "base": base,
        "is_by_link": is_by_link,
    }
    return render(request, "applications/delete.html", context, status=503 if error else 200)


def not_recorded(failure: OSError) -> StrOrPromise:
    """Log that ERASURE_LOG cannot be written, and return the error for the applicant."""
    logger.error("ERASURE_LOG cannot be written; nothing was changed: %s", failure)
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
        return application_page(
            request, application, **place, error=_("Answer yes or no."), status=422
        )
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
        return application_page(
            request, application, **place, error=not_recorded(failure), status=503
        )
    return redirect("application-deleted" if is_by_link else "account")


@by_its_owner
@require_POST
def pool(
    request: HttpRequest, application: Application, *, base: str, is_by_link: bool
) -> HttpResponse:
    """Take the answer to the question for the talent pool. "No" also leaves it."""
    given, status = request.POST.get("answer"), 422
    error: StrOrPromise = _("Answer yes or no.")
    if given == "yes":
        operations.join_pool(application=application, at=timezone.now())
        return redirect(f"{base}#pool")
    if given == "no":
        if not (error := _left_pool(application)):
            return redirect(f"{base}#pool")
        status = 503
    return application_page(
        request, application, base=base, is_by_link=is_by_link, error=error, status=status
    )


@get_or_post
def leave(request: HttpRequest, application: Application, **place: object) -> HttpResponse:
    """Ask whether the applicant leaves the talent pool, then record it. The link of an email does
    this however old it is, as long as the consent is valid; it shows nothing about the application.
    """
    error = _left_pool(application) if request.method == "POST" else ""
    context = {
        "heading": _("Leave the talent pool?") if is_in_pool(application) else _("Talent pool"),
        "is_in_pool": is_in_pool(application),
        "error": error,
    }
    template = "applications/consent/leave.html"
    return render(request, template, context, status=503 if error else 200)


def _left_pool(application: Application) -> StrOrPromise:
    """Let the applicant leave the talent pool. Return the error if it cannot be recorded."""
    try:
        privacy.leave_pool(application=application, at=timezone.now())
    except OSError as failure:
        not_recorded(failure)
        return _("Your answer cannot be recorded at the moment. Try again later.")
    return ""
