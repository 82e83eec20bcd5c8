"""A second factor and passkeys, by django-allauth. Imported where one is switched on, or OpenID Connect is
(jobsite/accounts/openid.py).

The pages are allauth's in the site's own look (templates/allauth), at the addresses in
jobsite/accounts/pages.py; signing in by name and password stays Django's, with django-axes before it.
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
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from jobsite.api import addresses

HAS_FACTORS = settings.SECOND_FACTOR != "off"
WRONG_CODES, WRONG_CODES_MAX = "wrong_codes", 5  # in a row, in one session
FRESH = 300  # seconds in which nobody is asked to prove again who they are


@receiver(authentication_step_completed)
def rotate_session_key(request: HttpRequest, **kwargs: Any) -> None:
    """Give the session a new key whenever it gains a proof (password, second factor, provider), so that a
    copy of the old cookie gains nothing. The row of the old key is deleted."""
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
    def count_as_used(request: HttpRequest, user: Any, authenticator: Any, **kwargs: Any) -> None:
        """Whoever sets a factor up has shown that it works."""
        if authenticator.type != Authenticator.Type.RECOVERY_CODES:
            record_authentication(request, user, "mfa", type=authenticator.type)

    class CodeStage(AuthenticateStage):
        """A sign-in that waits for its second factor; it remembers the password that started it."""

        def handle(self) -> Any:
            self.login.state["password"] = self.login.user.get_session_auth_hash()
            return super().handle()

    class CountedCode:
        """A form with a code, of an app or of the recovery codes."""

        def clean_code(self: Any) -> Any:
            with counted(context.request, self.user):
                return super().clean_code()  # type: ignore[misc]

    class CodeForm(CountedCode, AuthenticateForm):
        pass

    class CodeConfirmForm(CountedCode, ReauthenticateForm):
        pass

    class Guarded:
        """A form with a credential of a passkey. A malformed one is an error of the form, never a 500."""

        def full_clean(self: Any) -> None:
            try:
                super().full_clean()  # type: ignore[misc]
            except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
                self.add_error("credential", get_mfa_adapter().validation_error("incorrect_code"))

        def clean_credential(self: Any) -> Any:
            """Compare the origin exactly: python-fido2 accepts every port, and subdomains too."""
            credential = self.cleaned_data["credential"]
            client = CollectedClientData(websafe_decode(credential["response"]["clientDataJSON"]))
            if client.origin != addresses.own_origin(context.request):
                raise get_mfa_adapter().validation_error("incorrect_code")
            clean = getattr(super(), "clean_credential", lambda: credential)
            return clean()

    class AddPasskeyForm(Guarded, webauthn.AddWebAuthnForm):
        pass

    class PasskeyForm(Guarded, webauthn.AuthenticateWebAuthnForm):
        pass

    class PasskeyLoginForm(Guarded, webauthn.LoginWebAuthnForm):
        pass

    class PasskeyConfirmForm(Guarded, webauthn.ReauthenticateWebAuthnForm):
        pass


def hide_from_admin() -> None:
    """Secrets are on no page of the workplace."""
    for model in list(admin.site._registry):
        if model.__module__.startswith("allauth."):
            admin.site.unregister(model)


def has_factor(user: Any) -> bool:
    """Whether `user` has set a factor up; a list of recovery codes alone is none."""
    return HAS_FACTORS and is_mfa_enabled(user, [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN])


def needs_factor(user: Any) -> bool:
    """Whether a password alone is too little for `user`."""
    return (settings.SECOND_FACTOR == "required" and user.is_staff) or has_factor(user)


def by_password(request: HttpRequest, user: Any, then: str) -> HttpResponse:
    """Sign `user` in, whose password was right, or ask for the second factor first."""
    login = Login(user=user, email_verification="none", redirect_url=then)
    return flows.login.perform_password_login(request, {"username": user.get_username()}, login)


def start_over(request: HttpRequest) -> None:
    """Forget a password that was right and waits for a code: its page would be all that is shown."""
    if stagekit.LOGIN_SESSION_KEY in request.session:
        stagekit.clear_login(request)


def is_pending(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """`view` of a sign-in that waits for its second factor. A sign-in whose password was changed since, or
    whose account was deactivated or deleted, is ended first."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if login := stagekit.unstash_login(request, peek=True):
            user: Any = login.user
            if not (
                user
                and user.is_active
                and constant_time_compare(login.state.get("password", ""), user.get_session_auth_hash())
            ):
                stagekit.clear_login(request)
        return view(request, *args, **kwargs)

    return answer


@contextmanager
def counted(request: HttpRequest, user: Any) -> Iterator[None]:
    """Count a ValidationError from the block as a failed sign-in of `user` from this address, in
    django-axes, and end the session after five in a row. Other addresses are not affected, so whoever
    knows the password cannot lock the owner out."""
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


def is_proved(request: HttpRequest) -> bool:
    """Whether whoever is signed in has shown more than a password."""
    methods = {record["method"] for record in get_authentication_records(request, request.user)}
    return not methods.isdisjoint(("mfa", "socialaccount"))


def ask_for_factor(request: HttpRequest, otherwise: str) -> HttpResponse:
    """Lead to where a factor is shown, and from there back, or to `otherwise` after what was posted."""
    then = urlencode({"next": request.get_full_path() if request.method == "GET" else otherwise})
    return HttpResponseRedirect(f"{reverse('mfa_reauthenticate')}?{then}")


def about_factors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """`view` of factors, for those who have shown the one that they have: who knows the password alone would
    read the recovery codes there, add a factor or take it away."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and has_factor(request.user) and not is_proved(request):
            return ask_for_factor(request, reverse("mfa_index"))
        return view(request, *args, **kwargs)

    return answer


def about_removal(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """`view` that removes a factor, for those who confirmed one in this session in the last FRESH seconds.
    The sign-in itself is not enough: the browser may be left open."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        confirmed = (
            record
            for record in get_authentication_records(request, request.user)
            if record["method"] == "mfa" and record.get("reauthenticated")
        )
        is_fresh = any(time.time() - record["at"] <= FRESH for record in confirmed)
        if request.user.is_authenticated and has_factor(request.user) and not is_fresh:
            return ask_for_factor(request, reverse("mfa_index"))
        return view(request, *args, **kwargs)

    return about_factors(answer)


def lacks_factor(request: HttpRequest) -> bool:
    """Whether whoever is signed in needs a second factor and has shown none."""
    user = request.user
    return user.is_authenticated and not is_proved(request) and needs_factor(user)


def elsewhere(login: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The admin's own `login`, which signs nobody in: a password is enough for it, whoever is there."""

    @wraps(login)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "POST":
            return HttpResponseRedirect(reverse("account-login"))
        return login(request, *args, **kwargs)

    return answer


class SecondFactorGate:
    """Lets nobody into the workplace by a password alone who needs more: whoever has a factor is asked for
    it, whoever has none is led to set one up. An identity provider sees to its own.

    For internal lists and files, jobsite.api.permissions.lacks_factor asks the request the same.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.lacks_factor = partial(lacks_factor, request)  # type: ignore[attr-defined]
        path = request.path_info
        if not path.startswith("/admin/") or path in ("/admin/login/", "/admin/logout/"):
            return self.get_response(request)
        user: Any = request.user
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
        return False  # accounts are made in the workplace, by import or by command

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index" if request.user.is_staff else "account")

    def get_login_stages(self) -> list[str]:
        own = {"allauth.mfa.stages.AuthenticateStage": "jobsite.accounts.sign_in.CodeStage"}
        return [own.get(path, path) for path in super().get_login_stages()]

    def get_client_ip(self, request: HttpRequest) -> str:
        return addresses.client(request) or "unknown"

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Nobody is asked for the password that they typed a moment ago."""
        records = get_authentication_records(context.request, context.request.user)
        return not records or time.time() - records[-1]["at"] > FRESH

    def add_message(self, request: HttpRequest, level: int, message_template: str | None = None,
                    *args: Any, **kwargs: Any) -> None:  # fmt: skip
        if message_template != "account/messages/logged_in.txt":
            super().add_message(request, level, message_template, *args, **kwargs)
