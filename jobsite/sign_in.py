"""A second factor, passkeys and OpenID Connect, by django-allauth; imported only where they are switched on.

The pages are allauth's in the site's own look (templates/allauth), at the addresses in applications/pages.py;
signing in by name and password stays Django's, with django-axes before it.
"""

import logging
import time
import unicodedata
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal import flows, stagekit
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.account.models import Login
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from requests import RequestException

from jobsite.api import addresses

logger = logging.getLogger(__name__)

HAS_FACTORS = settings.SECOND_FACTOR != "off"
FRESH = 300  # seconds in which nobody is asked to prove again who they are

if HAS_FACTORS:
    from allauth.mfa.adapter import get_adapter as get_mfa_adapter
    from allauth.mfa.models import Authenticator
    from allauth.mfa.signals import authenticator_added
    from allauth.mfa.utils import is_mfa_enabled
    from allauth.mfa.webauthn import forms as webauthn

    @receiver(authenticator_added)
    def count_as_used(request: HttpRequest, user: Any, authenticator: Any, **kwargs: Any) -> None:
        """Whoever sets a factor up has shown that it works."""
        if authenticator.type != Authenticator.Type.RECOVERY_CODES:
            record_authentication(request, user, "mfa", type=authenticator.type)

    class Guarded:
        """What is posted as a credential and is none is a mistake in a form, not a failure of the server."""

        def full_clean(self: Any) -> None:
            try:
                super().full_clean()  # type: ignore[misc]
            except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
                self.add_error("credential", get_mfa_adapter().validation_error("incorrect_code"))

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
    it, whoever has none is led to set one up. An identity provider sees to its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if not path.startswith("/admin/") or path in ("/admin/login/", "/admin/logout/"):
            return self.get_response(request)
        user: Any = request.user
        if not (user.is_authenticated and user.is_staff):
            return self.get_response(request)
        if is_proved(request) or not needs_factor(user):
            return self.get_response(request)
        if not has_factor(user):
            messages.info(request, _("The workplace asks for a second factor: an app or a passkey."))
            return HttpResponseRedirect(reverse("mfa_index"))
        return ask_for_factor(request, "/admin/")


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False  # accounts are made in the workplace, by import or by command

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index" if request.user.is_staff else "account")

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


class OidcAdapter(DefaultSocialAccountAdapter):
    """Lets in who has an account here already: the first time by an e-mail address that the provider has
    verified and that one active account alone has, from then on by the provider's own name for the person.
    Accounts, roles and rights are given here only."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        data = sociallogin.account.extra_data
        subjects = {part.get("sub") for part in (data.get("userinfo"), data.get("id_token")) if part}
        if len(subjects) > 1:  # OpenID Connect Core 5.3.2: an answer about somebody else
            raise ImmediateHttpResponse(refuse(request))
        if sociallogin.is_existing:
            return
        user = self.named(sociallogin)
        if user is None:
            raise ImmediateHttpResponse(refuse(request))
        sociallogin.connect(request, user)

    def named(self, sociallogin: Any) -> Any:
        """The account that the provider's verified e-mail address stands for, unless it is somebody's already
        by another name: addresses are handed on, names are not."""
        for each in sociallogin.email_addresses:
            if each.verified is not True:
                continue
            users = [
                user
                for user in get_user_model().objects.filter(email__iexact=each.email, is_active=True)
                if _folded(user.email) == _folded(each.email)
            ]
            from allauth.socialaccount.models import SocialAccount  # installed only with a provider

            if len(users) == 1 and not SocialAccount.objects.filter(user=users[0]).exists():
                return users[0]
        return None


def reachable(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """`view` of the identity provider, or a page that says that it does not answer."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except RequestException as error:
            logger.error("The identity provider does not answer: %s.", type(error).__name__)
            context = {"heading": _("No answer"), "oidc_name": settings.OIDC_NAME}
            return render(request, "registration/stranger.html", context, status=503)

    return answer


def refuse(request: HttpRequest) -> HttpResponse:
    return render(request, "registration/stranger.html", {"heading": _("No access")}, status=403)


def _folded(email: str) -> str:
    return unicodedata.normalize("NFKC", email).casefold()
