"""Storing a submission: the one way in, used by the API and by the site's own page.

The order of the writes loses nothing: the files, then one transaction with every row.
"""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import NamedTuple

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.files import File
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import translation

from applications.mail.receipt import queue_receipt
from applications.models import Application, FormSnapshot, Submission
from applications.models.application import new_reference
from applications.operations.pool import join_pool_by_form
from applications.operations.stages import create_application
from applications.querysets import folded_address
from applications.submissions import idempotency, proof
from applications.submissions.files import FileError, StoredFiles, sha256_of, store
from applications.submissions.forms import (
    ServedForm,
    had_same_consent,
    sections_of_original,
)
from applications.submissions.idempotency import KeyInUseError, KeyReusedError
from applications.submissions.proof import ProofRequiredError
from applications.submissions.validation import (
    AnswerError,
    cleaned,
    field_errors,
    file_fields,
    pointer,
)
from forms_structure.choices import CHECKED, FieldRole
from forms_structure.structure import HONEYPOT, walk
from jobsite.db.transactions import retry_on_conflict
from jobsite.types import JsonObject
from vacancies.models import Requisition, Vacancy

__all__ = [
    "Attempt",
    "ClosedError",
    "KeyInUseError",
    "KeyReusedError",
    "ProofRequiredError",
    "SubmissionError",
    "UnknownPartError",
    "find_repeated",
    "submit_application",
]

# An equal submission from the same address is the same application.
REPEATED_WITHIN = timedelta(days=1)


class ClosedError(Exception):
    """The vacancy takes no applications:
    its form asks for no e-mail address, or it has an `apply_url`.
    """


class UnknownPartError(Exception):
    """A file was sent for `name`, which is not a file field of the form."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class SubmissionError(Exception):
    """The submission is invalid. `is_form_changed`: because the form changed since the applicant
    loaded it. `status` is 422, or 413, 415 or 503 for a file. Messages are in `language`, that of
    the form.
    """

    def __init__(
        self,
        errors: list[AnswerError],
        *,
        language: str,
        status: int = 422,
        is_form_changed: bool = False,
    ) -> None:
        self.errors, self.language = errors, language
        self.status, self.is_form_changed = status, is_form_changed
        super().__init__(f"{len(errors)} errors")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An attempt to apply for `vacancy`, which comes from `Vacancy.objects.with_form()` and is
    published at the time of the request. The applicant filled in `form_version` of its `form`:
    `values` and `files`, by field name. `user` is an account or None, `source` says where the
    applicant came from, and `key` is an Idempotency-Key or "". If `is_proof_required`, `solution`
    has to be an ALTCHA payload.
    """

    vacancy: Vacancy
    form: ServedForm
    form_version: str
    values: JsonObject
    files: Mapping[str, File]
    user: User | None = None
    source: str = ""
    key: str = ""
    is_proof_required: bool = False
    solution: str | None = None


def submit_application(attempt: Attempt, *, base_url: str = "", at: datetime) -> Application:
    """Store the submission of `attempt`, made at `at`, and return its application; of an equal
    earlier one, that application. Links in emails are below `base_url`.

    Raise ClosedError, UnknownPartError, SubmissionError, ProofRequiredError, KeyInUseError or
    KeyReusedError; then nothing is stored.
    """
    if not attempt.form.accepts_applications:
        raise ClosedError
    for name in attempt.files:
        if name not in file_fields(attempt.form):
            raise UnknownPartError(name)
    attempt = replace(attempt, values=_without_empty_honeypot(attempt.values))
    try:
        return _submit(attempt, base_url=base_url, at=at)
    except IntegrityError as error:
        # A row it refers to was deleted meanwhile: the vacancy, the account, or an unused snapshot.
        if not Vacancy.objects.filter(pk=attempt.vacancy.pk).exists():
            raise ClosedError from error
        user = attempt.user and get_user_model()._default_manager.filter(pk=attempt.user.pk).first()
        return _submit(replace(attempt, user=user), base_url=base_url, at=at)


def find_repeated(
    vacancy: int, document: JsonObject, files: Mapping[str, File], *, key: str, at: datetime
) -> Application | None:
    """Return the application that the same request with `key` created within a day before `at`,
    whether the vacancy with this id is still published or not. None if its content was another.
    """
    values = _without_empty_honeypot(document["values"])
    content = _content(
        idempotency.digest(values, sha256_of(files)),
        document["version"],
        document.get("source", ""),
    )
    with suppress(KeyReusedError):
        return idempotency.find(vacancy, key, content, at=at)
    return None


def _without_empty_honeypot(values: JsonObject) -> JsonObject:
    return {name: value for name, value in values.items() if name != HONEYPOT or value != ""}


def _content(fingerprint: str, form_version: str, source: str) -> str:
    """Return what two requests with the same key have to have in common."""
    return idempotency.digest(fingerprint, form_version, source)


def _submit(attempt: Attempt, *, base_url: str, at: datetime) -> Application:
    """Create the application. Raise IntegrityError if the vacancy, account or
    snapshot was deleted.
    """
    vacancy, key = attempt.vacancy, attempt.key
    hashes = sha256_of(attempt.files)
    content = _content(
        idempotency.digest(attempt.values, hashes), attempt.form_version, attempt.source
    )
    attempt = replace(attempt, values=cleaned(attempt.form, attempt.values))
    fingerprint = idempotency.digest(attempt.values, hashes)
    stored, is_written = StoredFiles(), False
    try:
        with idempotency.in_use(vacancy, key) if key else nullcontext():
            if key and (earlier := idempotency.find(vacancy, key, content, at=at)):
                return earlier
            is_proof_required = attempt.is_proof_required
            used = proof.verified(vacancy, attempt.solution, at=at) if is_proof_required else None
            _check(attempt)
            stored = _store(attempt.form, attempt.files, hashes)
            with transaction.atomic():
                address = folded_address(attempt.values[attempt.form.roles[FieldRole.EMAIL]])
                idempotency.lock_address(vacancy, address)
                application = _equal(_earlier(vacancy, address), fingerprint, at=at)
                is_new = application is None
                if application is None:
                    application = _create(attempt, at=at)
                    submission = _add_submission(application, attempt, fingerprint)
                    stored.add_rows(submission)
                    _join_pool(application, attempt, at=at)
                    queue_receipt(application=application, base_url=base_url, at=at)
                if used:
                    proof.spend(used)
                if key:
                    idempotency.record(vacancy, key, content, application, at=at)
                is_written = True
    except BaseException as error:
        # A connection that is lost during the COMMIT leaves it open whether the rows exist. Then
        # the files are kept; purge deletes those without a row.
        if not (is_written and isinstance(error, OperationalError | InterfaceError)):
            stored.discard()
        raise
    if not is_new:
        stored.discard()
    return application


def _check(attempt: Attempt) -> None:
    """Raise SubmissionError if the submission is invalid, or the applicant saw another consent."""
    form, version = attempt.form, attempt.form_version
    with translation.override(form.language):
        errors = field_errors(form, attempt.values, attempt.files)
    is_changed = version != form.version
    if errors or (is_changed and not had_same_consent(form, version)):
        raise SubmissionError(errors, language=form.language, is_form_changed=is_changed)


def _store(form: ServedForm, files: Mapping[str, File], hashes: dict[str, str]) -> StoredFiles:
    with translation.override(form.language):
        try:
            return store(files, hashes)
        except FileError as error:
            found = AnswerError(pointer(error.field), "file", error.detail, error.reason)
            raise SubmissionError([found], status=error.status, language=form.language) from error


class _Earlier(NamedTuple):
    """An application from the same address."""

    pk: int
    created_at: datetime
    withdrawn_at: datetime | None
    fingerprint: str | None  # of its submission


def _earlier(vacancy: Vacancy, address: str) -> list[_Earlier]:
    """Return the applications from `address` to `vacancy`."""
    rows = Application.objects.from_address(address).filter(vacancy=vacancy)
    found = rows.values_list("pk", "created_at", "withdrawn_at", "submission__fingerprint")
    return [_Earlier(*row) for row in found]


def _equal(earlier_ones: list[_Earlier], fingerprint: str, *, at: datetime) -> Application | None:
    """Return the application with an equal submission in the last day. One that was withdrawn does
    not count: its applicant applies again.
    """
    for each in earlier_ones:
        is_recent = each.created_at > at - REPEATED_WITHIN
        if each.fingerprint == fingerprint and is_recent and each.withdrawn_at is None:
            # None if it was erased meanwhile
            return (
                Application.objects.select_related("submission__snapshot")
                .filter(pk=each.pk)
                .first()
            )
    return None


def _create(attempt: Attempt, *, at: datetime) -> Application:
    def value(role: FieldRole) -> str:
        return attempt.values.get(attempt.form.roles.get(role, ""), "")

    attempts = count()
    is_spontaneous = Requisition.takes_open_applications(attempt.vacancy)

    columns = {
        "given_name": value(FieldRole.GIVEN_NAME),
        "family_name": value(FieldRole.FAMILY_NAME),
        "email": value(FieldRole.EMAIL),
        "email_folded": folded_address(value(FieldRole.EMAIL)),
        "phone": value(FieldRole.PHONE),
        "language": attempt.form.language,
    }
    account = {"user_id": attempt.user and attempt.user.pk}
    to_brand = Application.objects.to_brand(attempt.vacancy.brand_id)
    is_repeated = to_brand.has_person(columns | account)

    def make() -> Application:
        # An account has one application to a vacancy at a time; references are random. Either can
        # conflict.
        return create_application(
            user=attempt.user,
            vacancy=attempt.vacancy,
            at=at + timedelta(microseconds=next(attempts)),
            reference=new_reference(),
            is_repeated=is_repeated,
            is_spontaneous=is_spontaneous,
            **columns,
        )

    return retry_on_conflict(make)


def _add_submission(application: Application, attempt: Attempt, fingerprint: str) -> Submission:
    form = attempt.form
    snapshot, _is_new = FormSnapshot.objects.get_or_create(
        digest=form.version,
        defaults={
            "sections": form.sections,
            "original": lambda: sections_of_original(attempt.vacancy, form),
        },
    )
    return Submission.objects.create(
        application=application,
        values=attempt.values,
        snapshot=snapshot,
        consent_text=form.consent["label"],
        consent_version=form.consent["version"],
        consented_at=application.created_at,
        source=attempt.source,
        fingerprint=fingerprint,
    )


def _join_pool(application: Application, attempt: Attempt, *, at: datetime) -> None:
    """Record the consent to the talent pool, if the applicant ticked it."""
    name = attempt.form.roles.get(FieldRole.POOL)
    if name and attempt.values.get(name) == CHECKED:
        labels = {field["name"]: field["label"] for _path, field in walk(attempt.form.sections)}
        join_pool_by_form(application=application, text=labels[name], at=at)
