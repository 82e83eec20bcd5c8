"""The endpoint that takes submissions of application forms (docs/api.md, docs/decisions.md #147 to
#152).
"""

import re
from contextlib import suppress
from datetime import datetime

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from applications.api import bodies
from applications.api.bodies import BodyError, shown
from applications.api.submissions_schema import OPERATION
from applications.models import Application
from applications.operations.submitting import (
    Attempt,
    ClosedError,
    KeyInUseError,
    KeyReusedError,
    ProofRequiredError,
    SubmissionError,
    UnknownPartError,
    find_repeated,
    submit_application,
)
from applications.submissions import idempotency, proof
from applications.submissions.forms import ServedForm, in_version, submission_form
from applications.submissions.validation import document_errors, file_fields
from jobsite.api.absolute_urls import base_url
from jobsite.api.permissions import lacks_factor
from jobsite.api.problems import problem
from jobsite.api.throttling import RateLimit
from jobsite.types import JsonObject
from vacancies.api.published import ID, NO_SUCH_VACANCY, find_published
from vacancies.models import Vacancy

ATTEMPTS, ATTEMPTS_IN_ALL = "20/hour", "60/hour"  # for each client: at one vacancy, at all of them
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@extend_schema_view(submit=extend_schema(operation=OPERATION))
class SubmissionViewSet(ViewSet):
    """POST a submission of the application form of a vacancy."""

    http_method_names = ("post", "options")
    permission_classes = [AllowAny]
    lookup_value_regex = "[^/]+"

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        if self.action is None:  # before any other error
            self.http_method_not_allowed(request)
        # Django would read the body to look for a CSRF token: it has to be in the header.
        request._request.POST = QueryDict()  # type: ignore[misc, assignment]
        super().initial(request, *args, **kwargs)

    def perform_authentication(self, request: Request) -> None:
        """Ignore invalid credentials: an expired token does not stop an applicant."""
        with suppress(APIException):
            request.user  # noqa: B018 - authenticates

    @action(detail=True, methods=["post"], url_path="applications")
    def submit(self, request: Request, pk: str) -> HttpResponse:
        at = timezone.now()
        columns = ("title", "audience", "apply_url", "brand__name")
        vacancies = Vacancy.objects.with_form().select_related("brand").only(*columns)
        try:
            vacancy = find_published(request, pk, vacancies, at=at)
            form = submission_form(vacancy, request.query_params.get("language", ""))
            if not form.accepts_applications:
                raise NotFound(NO_SUCH_VACANCY)
        except NotFound:
            if application := self._repeated(request, pk, at=at):
                return _created(application)
            raise
        self._count(request, vacancy.pk)
        plain = request._request
        try:
            application = _receive(plain, vacancy, form, user=_account(request), at=at)
        except ClosedError as error:  # the vacancy was deleted meanwhile
            raise NotFound(NO_SUCH_VACANCY) from error
        except BodyError as error:
            return problem(plain, error.status, error.detail)
        except UnknownPartError as error:
            return problem(
                plain, 400, f"The part {shown(error.name)} is not a file field of the form."
            )
        except KeyInUseError:
            detail = "A request with this Idempotency-Key is being processed."
            return problem(plain, 409, detail, {"Retry-After": "1"})
        except KeyReusedError:
            return problem(
                plain, 422, "This Idempotency-Key was used with other content.", errors=[]
            )
        except SubmissionError as error:
            return _invalid(plain, error)
        except ProofRequiredError:
            detail = "Solve the challenge and send the request again."
            challenge = proof.challenge(vacancy, at=at)
            return problem(plain, 429, detail, proof_required=True, challenge=challenge)
        return _created(application)

    def options(self, request: Request, *args: object, **kwargs: object) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def _repeated(self, request: Request, pk: str, *, at: datetime) -> Application | None:
        """Return the application that this request created before the vacancy closed. Any other
        request gets the 404 of an unknown vacancy.
        """
        key = request.headers.get("Idempotency-Key", "")
        is_storable = ID.fullmatch(pk) and len(pk) < 19  # in 64 bits
        if not is_storable or not _KEY.fullmatch(key):
            return None
        earlier = idempotency.application_of(int(pk), key)
        if earlier is None:
            return None
        self._count(request, int(pk))
        fields = earlier.submission.files.values_list("field", flat=True)
        with suppress(BodyError), bodies.reading(request._request, fields) as (document, files):
            if not document_errors(document):
                return find_repeated(int(pk), document, files, key=key, at=at)
        return None

    def _count(self, request: Request, pk: int) -> None:
        """Count an attempt of the client. Raise Throttled if it is one too many."""
        if limit := exceeded(request._request, pk):
            self.throttled(request, limit.wait())


def exceeded(request: HttpRequest, vacancy: int) -> RateLimit | None:
    """Count an attempt of the client to apply. Return the limit that it exceeds."""
    for rate, counted in ((ATTEMPTS, str(vacancy)), (ATTEMPTS_IN_ALL, "applications")):
        limit = RateLimit(rate)
        if not limit.allow_client(request, counted):
            return limit
    return None


def _created(application: Application) -> Response:
    data = {
        "reference": application.reference,
        "received_at": serializers.DateTimeField().to_representation(application.created_at),
        "version": application.submission.snapshot.digest,
    }
    return Response({"data": data}, status=201, headers={"Cache-Control": "no-store"})


def _account(request: Request) -> User | None:
    """Return the account of the credentials, or None. A session may lack a second factor."""
    is_weak = request.auth is None and lacks_factor(request)
    return request.user if request.user.is_authenticated and not is_weak else None


def _receive(
    request: HttpRequest, vacancy: Vacancy, form: ServedForm, *, user: User | None, at: datetime
) -> Application:
    """Store the submission in the body of `request`. Raises BodyError and SubmissionError."""
    key = request.headers.get("Idempotency-Key", "")
    if "Idempotency-Key" in request.headers and not _KEY.fullmatch(key):
        raise BodyError("Idempotency-Key must have 1 to 255 visible ASCII characters.")
    with bodies.reading(request, file_fields(form)) as (document, files):
        with translation.override(form.language):
            errors = document_errors(document)
        if errors:
            raise SubmissionError(errors, language=form.language)
        form = in_version(vacancy, form, document["version"])
        return submit_application(
            Attempt(
                vacancy=vacancy,
                values=document["values"],
                files=files,
                form_version=document["version"],
                user=user,
                source=document.get("source", ""),
                key=key,
                solution=document.get("proof"),
                is_proof_required=proof.is_required(vacancy, at=at),
                form=form,
            ),
            at=at,
            base_url=base_url(request),
        )


def _invalid(request: HttpRequest, error: SubmissionError) -> HttpResponse:
    """Return the problem document of an invalid submission, in the language of the form."""
    members: JsonObject = {"errors": [each.as_item() for each in error.errors]}
    count = len(error.errors)
    with translation.override(error.language):
        text = ngettext(
            "The submission has %(count)d error.", "The submission has %(count)d errors.", count
        )
        detail = text % {"count": count}
        if error.is_form_changed:
            members["form_changed"] = True
            detail = gettext(
                "The form changed since you loaded it. Check your answers and send it again."
            )
    return problem(request, error.status, detail, {"Content-Language": error.language}, **members)
