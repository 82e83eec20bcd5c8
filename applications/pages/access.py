"""Who opens the pages of an application: the owner of an account, or of the mailbox of a link."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from applications import operations
from applications.models import Application
from applications.submissions.links import MAX_AGE, opened_by
from jobsite.accounts import pages as accounts
from jobsite.types import UserRequest

View = Callable[..., HttpResponse]
get_or_post = require_http_methods(["GET", "HEAD", "POST"])


def by_link(view: View, *, max_age: timedelta | None = MAX_AGE) -> View:
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
        application = opened_by(token, max_age=max_age)
        if application is None:
            response = link_expired(request, token)
        else:
            if request.method == "POST":
                operations.verify(application=application, at=timezone.now())
            base = reverse("application-receipt", args=[token])
            response = view(request, application, base=base, is_by_link=True)
        response["Referrer-Policy"] = "strict-origin"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return answer


def link_expired(request: HttpRequest, token: str) -> HttpResponse:
    """Say that the link is not valid. An old one still leads out of the talent pool."""
    context = {"heading": _("This link is not valid"), "days": MAX_AGE.days}
    application = opened_by(token, max_age=None)
    if application and is_in_pool(application):
        context["leave"] = reverse("application-receipt-leave", args=[token])
    return render(request, "applications/link_expired.html", context, status=404)


def is_in_pool(application: Application) -> bool:
    return Application.objects.filter(pk=application.pk).in_pool().exists()


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
        if not is_manageable(request, application):
            return redirect(base)
        return view(request, application, base=base, is_by_link=is_by_link)

    return answer


def is_manageable(request: HttpRequest, application: Application) -> bool:
    return application.user_id in (None, request.user.pk)
