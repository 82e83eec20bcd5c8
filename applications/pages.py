"""The pages of applicants: the receipt that a signed link opens, and the own applications of an account."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from applications.submissions.links import opened_by
from jobsite.accounts.pages import page


def receipt_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Serve `view`, which gets the application that the token opens, under a URL that grants access.

    The Referer has no path: other pages must not see the token. It is not left out, because browsers then
    send `Origin: null` with forms, which the CSRF protection refuses (docs/decisions.md #162).
    """

    @page
    @wraps(view)
    def answer(request: HttpRequest, token: str, *args: Any, **kwargs: Any) -> HttpResponse:
        application = opened_by(token)
        if application is None:
            context = {"heading": _("This link has expired")}
            response = render(request, "applications/link_expired.html", context, status=404)
        else:
            response = view(request, application, *args, token=token, **kwargs)
        response["Referrer-Policy"] = "strict-origin"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return answer


@receipt_page
@require_safe
def receipt(request: HttpRequest, application: Any, token: str) -> HttpResponse:
    """Show what the applicant sent."""
    context = {"heading": _("Your application"), "application": application}
    return render(request, "applications/receipt.html", context)
