"""Second factors and passkeys by django-allauth. Only imported if they or OpenID Connect are
enabled.

The pages are those of allauth with our templates (templates/allauth), at the URLs in
jobsite/accounts/pages.py. Signing in by password remains Django's, limited by django-axes.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.internal import flows, stagekit
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.account.models import Login
from allauth.account.signals import authentication_step_completed
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from jobsite.api import client_address
from jobsite.api.absolute_urls import base_origin
from jobsite.unseen import plain_number

HAS_FACTORS = settings.SECOND_FACTOR != "off"
WRONG_CODES, WRONG_CODES_MAX = "wrong_codes", 5  # consecutive, in one session
CONFIRMATION_AGE = 300  # seconds after a confirmation without another one


@receiver(authentication_step_completed)
def rotate_session_key(request: HttpRequest, **kwargs: object) -> None:
    """Change the session key after each step of authentication, so that a copy of the old cookie is
    useless. The row of the old key is deleted."""
    request.session.cycle_key()


if HAS_FACTORS:
    from allauth.mfa.adapter import get_adapter as get_mfa_adapter
    from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
    from allauth.mfa.models import Authenticator
    from allauth.mfa.signals import authenticator_added
    from allauth.mfa.stages import AuthenticateStage
    from allauth.mfa.utils import is_mfa_enabled
    from allauth.mfa.webauthn import forms as webauthn
    from fido2.utils import websafe_decode
    from fido2.webauthn import CollectedClientData

    @receiver(authenticator_added)
    def count_as_used(
        request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: object
    ) -> None:
        """Count setting up a factor as using it."""
        if authenticator.type != Authenticator.Type.RECOVERY_CODES:
            record_authentication(request, user, "mfa", type=authenticator.type)

    class CodeStage(AuthenticateStage):
        """A sign-in that waits for its second factor;
        it stores a hash of the password of the first step.
        """

        def handle(self) -> tuple[HttpResponse | None, bool]:
            self.login.state["password"] = self.login.user.get_session_auth_hash()
            return super().handle()

    class CountedCode:
        """A form with a code of an app or a recovery code; wrong codes are counted."""

        def clean_code(self: Any) -> object:
            self.cleaned_data["code"] = plain_number(self.cleaned_data["code"])  # as it was copied
            with count_wrong_codes(context.request, self.user):
                return super().clean_code()  # type: ignore[misc]

    class CodeForm(CountedCode, AuthenticateForm):
        pass

    class CodeConfirmForm(CountedCode, ReauthenticateForm):
        pass

    class CheckedCredential:
        """A form with a credential of a passkey. A malformed one is a form error, not a 500."""

        def full_clean(self: Any) -> None:
            try:
                super().full_clean()  # type: ignore[misc]
            except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
                self.add_error("credential", get_mfa_adapter().validation_error("incorrect_code"))

        def clean_credential(self: Any) -> object:
            """Compare the origin exactly, and refuse frames in other sites: python-fido2 accepts
            every port, subdomain and frame.
            """
            credential = self.cleaned_data["credential"]
            client = CollectedClientData(websafe_decode(credential["response"]["clientDataJSON"]))
            if client.origin != base_origin(context.request) or client.cross_origin:
                raise get_mfa_adapter().validation_error("incorrect_code")
            clean = getattr(super(), "clean_credential", lambda: credential)
            return clean()

    class AddPasskeyForm(CheckedCredential, webauthn.AddWebAuthnForm):
        pass

    class PasskeyForm(CheckedCredential, webauthn.AuthenticateWebAuthnForm):
        pass

    class PasskeyLoginForm(CheckedCredential, webauthn.LoginWebAuthnForm):
        pass

    class PasskeyConfirmForm(CheckedCredential, webauthn.ReauthenticateWebAuthnForm):
        pass


def hide_from_admin() -> None:
    """Remove the models of allauth from the admin: they contain secrets."""
    for model in list(admin.site._registry):
        if model.__module__.startswith("allauth."):
            admin.site.unregister(model)


def has_factor(user: User) -> bool:
    """Return whether `user` has a second factor. Recovery codes alone are not one."""
    return HAS_FACTORS and is_mfa_enabled(
        user, [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    )


def needs_factor(user: User) -> bool:
    """Return whether `user` needs a second factor."""
    return (settings.SECOND_FACTOR == "required" and user.is_staff) or has_factor(user)


def by_password(request: HttpRequest, user: User, then: str) -> HttpResponse:
    """Sign `user` in after a correct password, or request the second factor first."""
    login = Login(user=user, email_verification="none", redirect_url=then)
    return flows.login.perform_password_login(request, {"username": user.get_username()}, login)


def start_over(request: HttpRequest) -> None:
    """Cancel a sign-in that waits for its second factor: otherwise only its page would be shown."""
    if stagekit.LOGIN_SESSION_KEY in request.session:
        stagekit.clear_login(request)


def checks_pending(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Before `view`, cancel a pending sign-in if its password was changed meanwhile, or its account
    deactivated or deleted."""

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if login := stagekit.unstash_login(request, peek=True):
            user = login.user
            if not (
                user
                and user.is_active
                and constant_time_compare(
                    login.state.get("password", ""), user.get_session_auth_hash()
                )
            ):
                stagekit.clear_login(request)
        return view(request, *args, **kwargs)

    return answer


@contextmanager
def count_wrong_codes(request: HttpRequest, user: User) -> Iterator[None]:
    """Count a ValidationError of the block as a failed sign-in of `user` from this address, and end
    the session after WRONG_CODES_MAX. Other addresses are not affected: someone who knows the
    password cannot lock the owner out.
    """
    credentials = {"username": user.get_username()}
    if not AxesProxyHandler.is_allowed(request, credentials):
        request.axes_locked_out, request.axes_credentials = True, credentials  # type: ignore[attr-defined]
        raise get_adapter().validation_error("too_many_login_attempts")
    try:
        yield
    except ValidationError:
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)
        request.session[WRONG_CODES] = request.session.get(WRONG_CODES, 0) + 1
        if request.session[WRONG_CODES] >= WRONG_CODES_MAX:
            logout(request)
            raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account-login"))) from None
        raise
    request.session.pop(WRONG_CODES, None)


def has_proved_factor(request: HttpRequest) -> bool:
    """Return whether the session was authenticated by more than a password."""
    methods = {record["method"] for record in get_authentication_records(request, request.user)}
    return not methods.isdisjoint(("mfa", "socialaccount"))


def ask_for_factor(request: HttpRequest, otherwise: str) -> HttpResponse:
    """Redirect to the second factor, and from there back, or to `otherwise` after a post."""
    then = urlencode({"next": request.get_full_path() if request.method == "GET" else otherwise})
    return HttpResponseRedirect(f"{reverse('mfa_reauthenticate')}?{then}")


def requires_known_factor(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Require the user's second factor for `view`, which manages factors: the password alone must
    not be enough to read recovery codes, or to add or remove a factor.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if (
            request.user.is_authenticated
            and has_factor(request.user)
            and not has_proved_factor(request)
        ):
            return ask_for_factor(request, reverse("mfa_index"))
        return view(request, *args, **kwargs)

    return answer


def requires_recent_factor(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Require a factor confirmed in the last CONFIRMATION_AGE seconds for `view`, which removes a
    factor. The sign-in itself does not count: the browser may be unattended.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        confirmed = (
            record
            for record in get_authentication_records(request, request.user)
            if record["method"] == "mfa" and record.get("reauthenticated")
        )
        is_recent = any(time.time() - record["at"] <= CONFIRMATION_AGE for record in confirmed)
        if request.user.is_authenticated and has_factor(request.user) and not is_recent:
            return ask_for_factor(request, reverse("mfa_index"))
        return view(request, *args, **kwargs)

    return requires_known_factor(answer)


def lacks_factor(request: HttpRequest) -> bool:
    """Return whether the user needs a second factor and has not used one in this session."""
    user = request.user
    return user.is_authenticated and not has_proved_factor(request) and needs_factor(user)


def redirects_login(login: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Redirect posts to the admin's `login` to the account pages: it accepts a password alone."""

    @wraps(login)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.method == "POST":
            return HttpResponseRedirect(reverse("account-login"))
        return login(request, *args, **kwargs)

    return answer


class SecondFactorGate:
    """Requires a second factor for the admin, and redirects users without one to set it up.
    Identity providers enforce their own.

    For internal lists and files, jobsite.api.permissions.lacks_factor calls `request.lacks_factor`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.lacks_factor = partial(lacks_factor, request)  # type: ignore[attr-defined]
        path = request.path_info
        if not path.startswith("/admin/") or path in ("/admin/login/", "/admin/logout/"):
            return self.get_response(request)
        user = request.user
        if not (user.is_staff and lacks_factor(request)):
            return self.get_response(request)
        if not has_factor(user):
            messages.info(
                request, _("The admin requires a second factor: an authenticator app or a passkey.")
            )
            return HttpResponseRedirect(reverse("mfa_index"))
        return ask_for_factor(request, "/admin/")


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False  # accounts are created in the admin, by import or by command

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index" if request.user.is_staff else "account")

    def get_login_stages(self) -> list[str]:
        own = {"allauth.mfa.stages.AuthenticateStage": "jobsite.accounts.sign_in.CodeStage"}
        return [own.get(path, path) for path in super().get_login_stages()]

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address.client(request) or "unknown"

    def is_reauthentication_required(self, *, app: str, **kwargs: object) -> bool:
        """Do not require the password again shortly after the sign-in."""
        records = get_authentication_records(context.request, context.request.user)
        return not records or time.time() - records[-1]["at"] > CONFIRMATION_AGE

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *args: object,
        **kwargs: object,
    ) -> None:
        if message_template != "account/messages/logged_in.txt":
            super().add_message(request, level, message_template, *args, **kwargs)
