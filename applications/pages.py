"""Pages for applicants' accounts: Django's own views, in the reader's language.

Same-site front ends send people to `/account/login?next=...`; others use tokens.
"""

import unicodedata
from collections.abc import Callable, Iterator
from functools import wraps
from threading import Thread
from typing import Any

from django.contrib.auth import get_user_model, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordResetForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse_lazy
from django.utils import translation
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext_lazy as _

from applications.languages import preferred
from jobsite.api.addresses import absolute


class ResetForm(PasswordResetForm):
    """Sends from a thread: how long the answer takes must not tell whether there is such an account."""

    def save(self, *, request: HttpRequest, **kwargs: Any) -> None:  # type: ignore[override]
        site = {"site": absolute(request, "/").rstrip("/")}
        super().save(request=request, **kwargs | {"extra_email_context": site})

    def get_users(self, email: str) -> Iterator[Any]:
        """Applicants who never had a password here, as an import leaves them, may choose one too."""
        wanted = unicodedata.normalize("NFKC", email).casefold()
        for user in get_user_model().objects.filter(email__iexact=email, is_active=True):
            same = unicodedata.normalize("NFKC", user.email).casefold() == wanted
            if same and (user.has_usable_password() or not user.is_staff):
                yield user

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        language = translation.get_language()

        def send() -> None:
            with translation.override(language):
                PasswordResetForm.send_mail(self, *args, **kwargs)

        Thread(target=send).start()


def page(view: Callable[..., Any]) -> Callable[..., HttpResponse]:
    """`view` in the language that the reader's browser asks for, kept by no cache."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        language = preferred(request.headers.get("Accept-Language", ""))
        with translation.override(language):
            response = view(request, *args, **kwargs)
            if hasattr(response, "render"):
                response.render()
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        patch_cache_control(response, private=True, no_store=True)
        return response

    return answer


@login_required(login_url="account-login")
def account(request: HttpRequest) -> HttpResponse:
    return render(request, "registration/account.html", {"heading": _("Your account")})


def _form(view: Any, heading: Any, button: Any, **options: Any) -> Any:
    words = {"heading": heading, "button": button}
    context = words | options.pop("extra_context", {})
    return view.as_view(template_name="registration/form.html", extra_context=context, **options)


_login = _form(
    views.LoginView, _("Sign in"), _("Sign in"), next_page="account", extra_context={"is_login": True}
)
_password = _form(
    views.PasswordChangeView, _("Change my password"), _("Save"), success_url=reverse_lazy("account")
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
    template_name="registration/sent.html", extra_context={"heading": _("Look into your mailbox")}
)
_confirm = _form(
    views.PasswordResetConfirmView, _("A new password"), _("Save"), success_url=reverse_lazy("account-login")
)

urlpatterns = [
    path("", page(account), name="account"),
    path("login", page(_login), name="account-login"),
    path("logout", page(views.LogoutView.as_view(next_page="account-login")), name="account-logout"),
    path("password", page(_password), name="account-password"),
    path("reset", page(_reset), name="account-reset"),
    path("reset/sent", page(_sent), name="account-reset-sent"),
    path("reset/<uidb64>/<token>", page(_confirm), name="account-reset-confirm"),
]
