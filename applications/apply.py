"""The page /apply/<id>: the application form of a vacancy, for sites without one of their own
(APPLY_PAGES).

It works without JavaScript. With it, form.js takes the form over and posts to the API. Both go
through `submit_application` (docs/decisions.md #172).
"""

import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import BadRequest
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe
from rest_framework.authentication import CSRFCheck, SessionAuthentication
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from applications.api.bodies import BODY_BYTES_MAX
from applications.api.submissions import exceeded
from applications.mail.receipt import recipients
from applications.models import Application
from applications.operations.submitting import (
    Attempt,
    ClosedError,
    KeyInUseError,
    KeyReusedError,
    ProofRequiredError,
    SubmissionError,
    submit_application,
)
from applications.submissions import proof
from applications.submissions.forms import ServedForm, submission_form
from applications.submissions.validation import SOURCE_MAX, AnswerError
from forms_structure.rendering import form_context, submitted
from forms_structure.structure import CONSENT, HONEYPOT, NO_TEXT
from jobsite.api.absolute_urls import base_url, with_query
from jobsite.api.permissions import lacks_factor
from jobsite.api.problems import RETRY_AFTER
from jobsite.languages import LANGUAGES, preferred_language
from jobsite.types import JsonObject
from vacancies.api.published import find_published
from vacancies.models import Vacancy, shown_in
from vacancies.statistics.visits import STARTED, given_source

THANKS_MAX_AGE = 24 * 60 * 60  # seconds
_SALT = "applications.thanks"
# Inputs of the page itself. No field has such a name: names of fields begin with a letter.
VERSION, NONCE, SOURCE = "_version", "_nonce", "_source"
CSRF = "csrfmiddlewaretoken"
SENT = "sent"  # parameter of the URL, which apply.js sets
INTERNAL = ("_", CSRF)
# What form.js imports. Browsers load them at once, not one after the other.
MODULES = (
    "fields",
    "loading",
    "proof",
    "render",
    "requests",
    "sha256",
    "submission",
    "validation",
    "view",
    "words",
)


class Session(SessionAuthentication):
    """The session of a page. `_owner` checks the CSRF token, because an
    applicant needs no account.
    """

    def enforce_csrf(self, request: Request) -> None:
        pass


@csrf_exempt  # the token decides whether the application belongs to the account
@require_http_methods(["GET", "HEAD", "POST"])
def apply(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the application form of the vacancy `pk`, or submit it and redirect to the thanks."""
    _require_pages()
    at = timezone.now()
    if (sent := _sent(request, pk)) is not None:
        return _thanks(request, sent)
    viewer = Request(request, authenticators=[Session()])
    try:
        vacancy = find_published(
            viewer, pk, Vacancy.objects.with_form().select_related("brand"), at=at
        )
    except NotFound:
        return _closed(request)
    if vacancy.apply_url:
        return _elsewhere(request, vacancy)
    form = submission_form(vacancy, _language(request, ""))
    if not form.accepts_applications:
        return _closed(request)
    with translation.override(form.language):
        page = _Page(request, vacancy, form)
        response = page.submit(at) if request.method == "POST" else page.show()
    response.headers.setdefault("Content-Language", _language(request, form.language))
    return response


@require_safe
def thanks(request: HttpRequest, token: str) -> HttpResponse:
    """Thank for the application that `token` names. Loading the page again sends nothing."""
    _require_pages()
    try:
        pk = signing.loads(token, salt=_SALT, max_age=THANKS_MAX_AGE)
    except signing.BadSignature:
        raise Http404 from None
    application = Application.objects.select_related("vacancy__brand").filter(pk=pk).first()
    if application is None:
        raise Http404
    return _thanks(request, application, receipt_to=application.address)


class _Page:
    """The page of one request, in the active language."""

    def __init__(self, request: HttpRequest, vacancy: Vacancy, form: ServedForm) -> None:
        self.request, self.vacancy, self.form = request, vacancy, form
        user = request.user
        self.account = user if user.is_authenticated and not lacks_factor(request) else None
        self.typed: dict[str, list[str]] = {}
        self.files: dict[str, UploadedFile] = {}
        self.source = given_source(request.GET)

    def show(self) -> HttpResponse:
        self.request.META[STARTED] = self.vacancy.pk
        response = self._render([], 200)
        # Not no-store: browsers then forget what was typed when somebody returns to the page.
        response["Cache-Control"] = "private, no-cache"
        return response

    def submit(self, at: datetime) -> HttpResponse:
        """Store the posted form. Show it again, with what was typed, if it is refused."""
        length = self.request.META.get("CONTENT_LENGTH", "")
        if length.isdecimal() and int(length) > BODY_BYTES_MAX:
            text = _("Your files are larger than %(size)s MB together. Choose smaller files.")
            return self._refuse([("", text % {"size": BODY_BYTES_MAX // 2**20})], 413)
        self._read()
        values, files = submitted(self.form.sections, self.typed, self.files)
        self.files = files
        if limit := exceeded(self.request, self.vacancy.pk):
            text = _("There were too many attempts. Try again in %(minutes)s min.")
            response = self._refuse([("", text % {"minutes": -(-int(limit.wait()) // 60)})], 429)
            response["Retry-After"] = str(int(limit.wait()))
            return response
        try:
            application = submit_application(
                Attempt(
                    vacancy=self.vacancy,
                    values=values,
                    files=files,
                    form_version=self.version,
                    user=self._owner(),
                    source=self.source,
                    key=self._key(values, files),
                    is_proof_required=proof.is_required(self.vacancy, at=at),
                    form=self.form,
                ),
                at=at,
                base_url=base_url(self.request),
            )
        except ClosedError:
            return _closed(self.request)
        except (KeyInUseError, KeyReusedError):
            return self._refuse(
                [("", _("Your application is being processed. Send it again."))], 409
            )
        except ProofRequiredError:
            text = _(
                "This vacancy receives many applications at the moment, and a check against "
                "robots needs JavaScript. Turn JavaScript on, or try again in an hour."
            )
            return self._refuse([("", text)], 429)
        except SubmissionError as error:
            if error.is_form_changed:
                self.typed.pop(CONSENT, None)  # the text may be another one
            errors = [_format_error(each) for each in error.errors]
            return self._refuse(errors, error.status, is_form_changed=error.is_form_changed)
        token = signing.dumps(application.pk, salt=_SALT)
        parameters = {"language": _language(self.request, "")}
        return redirect(with_query(reverse("apply-thanks", args=[token]), **parameters))

    def _read(self) -> None:
        post, files = self.request.POST, self.request.FILES
        if any(NO_TEXT.search(text) for name in post for text in (name, *post.getlist(name))):
            raise BadRequest("A text has a NUL.")
        sent: dict[str, Any] = dict(files.items())
        if any(NO_TEXT.search(name + file.name) for name, file in sent.items()):
            raise BadRequest("The name of a file has a NUL.")
        self.typed = {name: post.getlist(name) for name in post if not name.startswith(INTERNAL)}
        self.files = sent
        self.version, self.nonce = post.get(VERSION, ""), post.get(NONCE, "")
        self.source = post.get(SOURCE, "")[:SOURCE_MAX]

    def _owner(self) -> User | None:
        """Return the account if the form has its CSRF token:
        otherwise, another site may have sent it.
        """
        if self.account is None:
            return None
        check = CSRFCheck(lambda request: HttpResponse())
        check.process_request(self.request)
        refusal = check.process_view(self.request, None, (), {})  # type: ignore[arg-type] # `apply` is exempt
        return None if refusal else self.account

    def _key(self, values: JsonObject, files: Mapping[str, UploadedFile]) -> str:
        """Return the Idempotency-Key. Sending the same page twice stores one application. What was
        changed after a return to the page has another key.
        """
        content = json.dumps(
            [self.nonce, values, [[name, file.size] for name, file in files.items()]]
        )
        return sha256(content.encode()).hexdigest()

    def _refuse(
        self, errors: list[tuple[str, str]], status: int, *, is_form_changed: bool = False
    ) -> HttpResponse:
        named = {name for name, _text in errors}
        again = _("Choose this file again. Everything else is still filled in.")
        errors += [(name, again) for name in self.files if name not in named]
        response = self._render(errors, status, is_form_changed=is_form_changed)
        response["Cache-Control"] = "private, no-store"
        if status == 503:
            response["Retry-After"] = RETRY_AFTER
        return response

    def _render(
        self, errors: list[tuple[str, str]], status: int, *, is_form_changed: bool = False
    ) -> HttpResponse:
        token = get_token(self.request) if self.account else ""
        hidden = {
            VERSION: self.form.version,
            NONCE: secrets.token_hex(16),
            SOURCE: self.source,
            CSRF: token,
        }
        context = {
            "vacancy": shown_in(self.vacancy, _language(self.request, "")),
            "form": form_context(
                self.form.sections,
                language=self.form.language,
                roles=self.form.roles,
                typed=self.typed,
                errors=errors,
            ),
            "address": with_query(
                reverse("v1:single-vacancy-form", args=[self.vacancy.pk]),
                language=self.form.language if self.form.is_translation else "",
            ),
            "hidden_inputs": {name: value for name, value in hidden.items() if value},
            "account": self.account,
            "source": self.source,
            "token": token,
            "modules": MODULES,
            "is_form_changed": is_form_changed,
            "recipients": recipients(self.vacancy),
        }
        with translation.override(_language(self.request, self.form.language)):
            return render(self.request, "applications/apply/apply.html", context, status=status)


def _require_pages() -> None:
    if not settings.APPLY_PAGES:
        raise Http404


def _language(request: HttpRequest, default: str) -> str:
    """Return the language of the page from which the visitor comes, if the address has it."""
    language = request.GET.get("language", "")
    return language if language in LANGUAGES else default


def _sent(request: HttpRequest, pk: str) -> Application | None:
    """Return the application to the vacancy `pk` that apply.js has sent: loading the page again
    must not show an empty form. Its reference is no secret, so it does not show who applied.
    """
    reference = request.GET.get(SENT, "")
    if request.method == "POST" or not (reference.isascii() and reference.isalnum()):
        return None
    rows = Application.objects.select_related("vacancy__brand").filter(reference=reference)
    return next((row for row in rows if str(row.vacancy_id) == pk), None)


def _thanks(
    request: HttpRequest, application: Application, *, receipt_to: str = ""
) -> HttpResponse:
    vacancy = shown_in(application.vacancy, application.language)
    context = {"application": application, "vacancy": vacancy, "receipt_to": receipt_to}
    with translation.override(_language(request, application.language)):
        response = render(request, "applications/apply/thanks.html", context)
    response["Cache-Control"] = "private, no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _elsewhere(request: HttpRequest, vacancy: Vacancy) -> HttpResponse:
    """Return the page of a vacancy with an `apply_url`. Like the API, it takes no applications."""
    context = {"vacancy": vacancy, "host": urlsplit(vacancy.apply_url).hostname}
    status = 404 if request.method == "POST" else 200
    return _in_language_of(request, "applications/apply/elsewhere.html", context, status)


def _closed(request: HttpRequest) -> HttpResponse:
    """Return the same page for a vacancy that is unknown or hidden, and for one without
    applications.
    """
    return _in_language_of(request, "applications/apply/closed.html", {}, 404)


def _in_language_of(
    request: HttpRequest, template: str, context: Mapping[str, object], status: int
) -> HttpResponse:
    """Render a page without a form, which has no language of its own."""
    language = _language(request, preferred_language(request.headers.get("Accept-Language", "")))
    with translation.override(language):
        response = render(request, template, {**context}, status=status)
    response["Content-Language"] = language
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["Accept-Language"])
    return response


def _format_error(error: AnswerError) -> tuple[str, str]:
    """Return (name of the field or "", message) of `error`.
    The pointer /values/regimes/0 is of regimes.
    """
    parts = error.pointer.split("/")
    name = parts[2] if len(parts) > 2 and parts[1] == "values" else ""
    if name == HONEYPOT:  # a program of the applicant's may have filled it in; it is empty again
        return "", _("A hidden field was filled in. Send your application once more.")
    return name, error.detail
