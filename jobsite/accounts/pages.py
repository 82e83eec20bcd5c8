"""Account pages for applicants: Django's views, in the language of the browser.

Front ends on the same site redirect to `/account/login?next=...`; others use tokens.
"""

import logging
import unicodedata
from collections.abc import Callable, Iterator
from functools import wraps
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from axes import utils as axes
from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, get_user_model, login, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import connections
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import path, reverse_lazy
from django.utils import translation
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext_lazy as _
from django.views import View

from jobsite.accounts.lockout import limited
from jobsite.api.absolute_urls import base_url
from jobsite.api.throttling import RateLimit
from jobsite.fields import PastedEmailField
from jobsite.languages import preferred_language
from jobsite.types import StrOrPromise, UserRequest
from jobsite.unseen import visible

HAS_FACTORS = settings.SECOND_FACTOR != "off"
IS_EXTENDED = HAS_FACTORS or bool(settings.OIDC_ISSUER)
if IS_EXTENDED:
    from jobsite.accounts import sign_in

logger = logging.getLogger(__name__)


def in_background(work: Callable[[], None]) -> None:
    """Run `work` in a thread, and close its database connection."""

    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    Thread(target=run).start()


class ResetForm(PasswordResetForm):
    """Searches for the account and sends the mail in a thread, so that the response time does not
    reveal whether the account exists.
    """

    email = PastedEmailField(
        label=_("E-mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def save(self, *, request: HttpRequest, **kwargs: Any) -> None:
        # read everything from the request before the thread starts
        kwargs["extra_email_context"] = {"site": (address := base_url(request))}
        kwargs["domain_override"] = urlsplit(address).netloc
        language = translation.get_language()

        def work() -> None:
            with translation.override(language):
                PasswordResetForm.save(self, **kwargs)

        in_background(work)

    def get_users(self, email: str) -> Iterator[User]:
        """Yield the accounts of `email`, including imported applicants, who have no password yet.

        Accounts that reached RESET_MAIL_RATE are left out: the earlier mails are still valid.
        """
        limit = RateLimit(settings.RESET_MAIL_RATE)
        wanted = unicodedata.normalize("NFKC", email).casefold()
        for user in get_user_model().objects.filter(email__iexact=email, is_active=True):
            same = unicodedata.normalize("NFKC", user.email).casefold() == wanted
            if not (same and (user.has_usable_password() or not user.is_staff)):
                continue
            if limit.allow(f"account-{user.pk}"):
                yield user
            else:
                logger.warning("A password reset mail was not sent: RESET_MAIL_RATE is reached.")

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, object],
        from_email: str | None,
        to_email: str,
        html_email_template_name: str | None = None,
    ) -> None:
        """Send the mail. Django's method would log the address if the mail server rejects it."""
        subject = " ".join(render_to_string(subject_template_name, context).split())
        body = render_to_string(email_template_name, context)
        try:
            EmailMessage(subject, body, from_email, [to_email]).send()
        except Exception as error:  # any failure of the mail server
            logger.error("A password reset mail was not sent: %s.", type(error).__name__)


class OldPassword:
    """A form that counts a wrong old password as a failed sign-in."""

    request: HttpRequest

    def clean_old_password(self: Any) -> str:
        old = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=old) is None:
            raise ValidationError(
                self.error_messages["password_incorrect"], code="password_incorrect"
            )
        return old


class PasswordForm(forms.Form):
    """Asks for the password of the signed-in user before something that cannot be undone. An
    account that signs in by another way has none, and is not asked.
    """

    old_password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    error_messages = PasswordChangeForm.error_messages
    clean_old_password = OldPassword.clean_old_password

    def __init__(self, request: UserRequest, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.request, self.user = request, request.user
        if not self.user.has_usable_password():
            del self.fields["old_password"]


class PasswordView(views.PasswordChangeView):
    def get_form_class(self) -> type[forms.Form]:
        """Return Django's form, or the admin's, with the request, which the view does not pass."""
        form = super().get_form_class()
        return type(form.__name__, (OldPassword, form), {"request": self.request})


class ConfirmView(views.PasswordResetConfirmView):
    """Resets the lockout as well: access to the mailbox is sufficient proof. Colleagues then sign
    in to the admin.
    """

    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        response = super().form_valid(form)
        axes.reset(username=form.user.get_username())
        return redirect("admin:index") if form.user.is_staff else response


def page(view: Callable) -> Callable[..., HttpResponse]:
    """Serve `view` in the language of the browser, never cached."""

    @limited
    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        language = preferred_language(request.headers.get("Accept-Language", ""))
        with translation.override(language):
            response = view(request, *args, **kwargs)
            if hasattr(response, "render"):
                response.render()
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        patch_cache_control(response, private=True, no_store=True)
        return response

    return answer


class SignInForm(AuthenticationForm):
    def clean_username(self) -> str:
        return visible(self.cleaned_data["username"])


class LoginView(views.LoginView):
    """Sign-in by password, and if enabled with a second factor, a passkey or
    an identity provider.
    """

    authentication_form = SignInForm

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        others = {
            "has_factors": HAS_FACTORS,
            "oidc_name": settings.OIDC_ISSUER and settings.OIDC_NAME,
        }
        context = super().get_context_data(**kwargs) | {"is_login": True} | others
        del context["site"]  # Django's own; that of all pages is another one
        return context

    def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if IS_EXTENDED:
            sign_in.start_over(request)
        return super().get(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        if not IS_EXTENDED:
            return super().form_valid(form)
        return sign_in.by_password(self.request, form.get_user(), self.get_success_url())


def enter(request: HttpRequest, user: User, then: str) -> HttpResponse:
    """Sign `user` in, who has just chosen the password, and redirect to the path `then`."""
    if IS_EXTENDED:
        return sign_in.by_password(request, user, then)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(then)


def _form(
    view: type[View], heading: StrOrPromise, button: StrOrPromise, **options: Any
) -> Callable[..., HttpResponseBase]:
    words = {"heading": heading, "button": button}
    context = words | options.pop("extra_context", {})
    return view.as_view(template_name="registration/form.html", extra_context=context, **options)


_login = _form(LoginView, _("Sign in"), _("Sign in"), next_page="account")
_password = _form(
    PasswordView, _("Change my password"), _("Save"), success_url=reverse_lazy("account")
)
_reset = _form(
    views.PasswordResetView,
    _("A new password"),
    _("Send me a link"),
    form_class=ResetForm,
    email_template_name="registration/reset_mail.txt",
    subject_template_name="registration/reset_subject.txt",
    success_url=reverse_lazy("account-reset-sent"),
)
_sent = views.PasswordResetDoneView.as_view(
    template_name="registration/sent.html", extra_context={"heading": _("Check your inbox")}
)
_confirm = _form(
    ConfirmView, _("A new password"), _("Save"), success_url=reverse_lazy("account-login")
)

urlpatterns = [
    path("login", page(_login), name="account-login"),
    path(
        "logout", page(views.LogoutView.as_view(next_page="account-login")), name="account-logout"
    ),
    path(
        "password",
        page(login_required(_password, login_url="account-login")),
        name="account-password",
    ),
    path("reset", page(_reset), name="account-reset"),
    path("reset/sent", page(_sent), name="account-reset-sent"),
    path("reset/<uidb64>/<token>", page(_confirm), name="account-reset-confirm"),
]

if IS_EXTENDED:  # the URL names that django-allauth uses
    from allauth.account import views as account_views

    urlpatterns += [
        path("login", page(_login), name="account_login"),
        path(
            "logout",
            page(views.LogoutView.as_view(next_page="account-login")),
            name="account_logout",
        ),
        path("inactive", page(account_views.account_inactive), name="account_inactive"),
        path("confirm", page(account_views.reauthenticate), name="account_reauthenticate"),
    ]
if HAS_FACTORS:
    from allauth.mfa.base import views as factors
    from allauth.mfa.recovery_codes import views as codes
    from allauth.mfa.totp import views as totp
    from allauth.mfa.webauthn import views as passkeys

    def factor_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        return page(sign_in.requires_known_factor(view))

    urlpatterns += [
        path("factors", factor_page(factors.index), name="mfa_index"),
        path(
            "factors/code",
            page(sign_in.checks_pending(factors.authenticate)),
            name="mfa_authenticate",
        ),
        path("factors/confirm", page(factors.reauthenticate), name="mfa_reauthenticate"),
        path("factors/app", factor_page(totp.activate_totp), name="mfa_activate_totp"),
        path(
            "factors/app/remove",
            page(sign_in.requires_recent_factor(totp.deactivate_totp)),
            name="mfa_deactivate_totp",
        ),
        path(
            "factors/recovery",
            factor_page(codes.view_recovery_codes),
            name="mfa_view_recovery_codes",
        ),
        path(
            "factors/recovery/new",
            factor_page(codes.generate_recovery_codes),
            name="mfa_generate_recovery_codes",
        ),
        path(
            "factors/recovery/file",
            factor_page(codes.download_recovery_codes),
            name="mfa_download_recovery_codes",
        ),
        path("passkeys", factor_page(passkeys.list_webauthn), name="mfa_list_webauthn"),
        path("passkeys/login", page(passkeys.login_webauthn), name="mfa_login_webauthn"),
        path("passkeys/add", factor_page(passkeys.add_webauthn), name="mfa_add_webauthn"),
        path(
            "passkeys/confirm",
            page(passkeys.reauthenticate_webauthn),
            name="mfa_reauthenticate_webauthn",
        ),
        path("passkeys/<int:pk>", factor_page(passkeys.edit_webauthn), name="mfa_edit_webauthn"),
        path(
            "passkeys/<int:pk>/remove",
            page(sign_in.requires_recent_factor(passkeys.remove_webauthn)),
            name="mfa_remove_webauthn",
        ),
    ]
if settings.OIDC_ISSUER:
    from allauth.socialaccount import views as social

    from jobsite.accounts import openid

    urlpatterns += [
        path("oidc/error", page(social.login_error), name="socialaccount_login_error"),
        path("oidc/cancelled", page(social.login_cancelled), name="socialaccount_login_cancelled"),
    ]
    for name, view in (("login", openid.login), ("callback", openid.callback)):
        urlpatterns.append(
            path(f"<str:provider_id>/{name}", page(view), name=f"openid_connect_{name}")
        )
