"""The page of an account, and the way from a link to it."""

from contextlib import suppress

from django.contrib.auth.forms import SetPasswordForm
from django.core.exceptions import ObjectDoesNotExist
from django.core.paginator import Paginator
from django.db.models import ProtectedError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from applications import operations, privacy
from applications.mail.preferences import may_have_calendar
from applications.models import Application
from applications.pages.access import get_or_post, signed_in
from applications.pages.application import account_offer, download, summary_of
from applications.pages.changes import not_recorded
from jobsite.accounts import pages as accounts
from jobsite.types import UserRequest

PER_PAGE = 20


@signed_in
@require_safe
def account(request: UserRequest) -> HttpResponse:
    """Show the applications of the current user, and links to manage the account."""
    at = timezone.now()
    rows = Application.objects.of(request.user).newest_first().with_visible_status()
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    applications = list(page)
    pool = operations.pool_states([each.pk for each in applications], at=at)
    context = {
        "heading": _("Your account"),
        "is_wide": True,
        "has_factors": accounts.HAS_FACTORS,
        "has_calendar": may_have_calendar(request.user),
        "page": page,
        "applications": [
            summary_of(each, at) | {"pool": pool.get(each.pk)} for each in applications
        ],
    }
    return render(request, "registration/account.html", context)


@signed_in
@require_safe
def export_account(request: UserRequest) -> HttpResponse:
    """Send the data about the current user as a JSON file."""
    return download(privacy.export(user=request.user, now=timezone.now(), is_own=True))


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
            context["error"], status = not_recorded(failure), 503
        else:
            request.session.flush()
            return redirect("application-deleted")
    return render(request, "applications/delete_account.html", context, status=status)


@accounts.page
@require_safe
def deleted(request: HttpRequest) -> HttpResponse:
    return render(request, "applications/deleted.html", {"heading": _("Your data was deleted")})


@get_or_post
def create_account(
    request: HttpRequest, application: Application, *, base: str, **place: object
) -> HttpResponse:
    """Create an account for the address of the link, and sign in."""
    user = operations.new_account(application)
    if user is None or account_offer(request, application)["offer"] != "create":
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
