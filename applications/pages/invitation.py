"""The page where a colleague accepts an invitation, opened with the link of the email."""

from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from applications.mail.links import invitation_of
from applications.models import Invitation
from applications.operations import AccountExistsError
from applications.operations.invitations import NotAllowedError, accept, new_colleague
from applications.querysets import accounts_with
from jobsite.accounts import pages as accounts
from jobsite.accounts import roles


@accounts.page
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Let the owner of the mailbox choose a password or an identity provider; or accept with the
    account that has the address already. The page may say that there is one: whoever has the link
    reads the mailbox.
    """
    found = invitation_of(token, at=timezone.now())
    try:
        response = _answer(request, found) if found else _gone(request)
    except (Invitation.DoesNotExist, NotAllowedError):
        response = _gone(request)
    except AccountExistsError:
        response = redirect(request.path)  # the page then asks to sign in
    # as for the links of applicants (docs/decisions.md #161)
    response["Referrer-Policy"] = "strict-origin"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _answer(request: HttpRequest, found: Invitation) -> HttpResponse:
    known = accounts_with(found.email)
    if not known:
        return _create(request, found)
    if not any(user.is_active for user in known):
        return _page(request, found, step="deactivated", status=403)
    account = next((user for user in known if user.is_active and user == request.user), None)
    if account is None:
        return _page(request, found, step="sign in")
    if request.method != "POST":
        return _page(request, found, step="accept")
    accept(invitation=found, user=account, at=timezone.now())
    return redirect("admin:index")


def _create(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Let the owner of the mailbox, who has no account yet, choose how they sign in."""
    is_posted = request.method == "POST"
    if is_posted and "provider" in request.POST and settings.OIDC_ISSUER:
        accept(invitation=found, at=timezone.now())
        return redirect(f"{reverse('account-login')}?next={reverse('admin:index')}")
    form = SetPasswordForm(new_colleague(found), request.POST if is_posted else None)
    if not form.is_valid():
        return _page(request, found, step="create", form=form)
    password = form.cleaned_data["new_password1"]
    user = accept(invitation=found, password=password, at=timezone.now())
    return accounts.enter(request, user, reverse("admin:index"))


def _page(
    request: HttpRequest,
    found: Invitation,
    *,
    step: str,
    form: BaseForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "heading": _("Your invitation"),
        "step": step,
        "form": form,
        "username": new_colleague(found).username,
        "role": roles.label(found.role),
        "brands": found.brands.all(),
        "vacancies": found.vacancies.all(),
        "oidc_name": settings.OIDC_ISSUER and settings.OIDC_NAME,
        "next": request.path,
    }
    return render(request, "registration/invitation.html", context, status=status)


def _gone(request: HttpRequest) -> HttpResponse:
    context = {
        "heading": _("This link is not valid"),
        "step": "gone",
        "days": Invitation.MAX_AGE.days,
    }
    return render(request, "registration/invitation.html", context, status=404)
