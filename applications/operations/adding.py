"""Adding an application that came through no form of this site: by a colleague, or by an import."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from applications.mail.notice import queue_notice
from applications.models import Application, FormSnapshot, Message, Origin, Submission
from applications.models.application import new_reference
from applications.operations.consents import ask
from applications.operations.notes import add_note
from applications.operations.stages import create_application
from applications.querysets import folded_address, phone_digits
from applications.submissions import idempotency
from applications.submissions.files import StoredFiles
from jobsite.db.locks import lock_transaction
from jobsite.db.transactions import retry_on_conflict
from jobsite.types import JsonObject
from vacancies.models import Requisition, Vacancy

NOON = time(12)


class ConfirmedError(Exception):
    """The applicant has confirmed the address, or has an account."""


@dataclass(frozen=True, kw_only=True)
class NewApplication:
    """An application to `vacancy` that came in by `channel` on `received_on`, and may be stored for
    `basis`. `contact` has the columns given_name, family_name, email and phone. The applicant gets
    emails in `language`. `answers` has the label of each file that is `stored`. `is_informed`: the
    colleague told the applicant what is stored, and may have written a `note`.
    """

    vacancy: Vacancy
    contact: Mapping[str, str]
    language: str
    channel: str
    basis: str
    received_on: date
    answers: Sequence[JsonObject]
    stored: StoredFiles
    is_informed: bool = False
    note: str = ""


def add_application(
    new: NewApplication, *, author: User, key: str, base_url: str = "", at: datetime
) -> tuple[Application, list[str]]:
    """Add an application, and queue the notice to its applicant. Return it, and the names that its
    note mentions and nobody has. A second call with the same `key` returns the application of the
    first one.

    Raise KeyReusedError if the key was used with other content, KeyInUseError if it is used at the
    moment.
    """
    vacancy, contact, language, note = new.vacancy, new.contact, new.language, new.note
    hashes = {row.field: row.sha256 for row in new.stored.rows}
    content = idempotency.digest(
        contact, language, new.channel, new.basis, str(new.received_on), note, hashes
    )
    with transaction.atomic():
        lock_transaction(idempotency.digest("key", vacancy.pk, key))
        if earlier := idempotency.find(vacancy, key, content, at=at):
            return earlier, []
        address = folded_address(contact["email"])
        idempotency.lock_address(vacancy, address)
        columns = {**contact, "email_folded": address, "language": language, "read_at": at}
        to_brand = Application.objects.to_brand(vacancy.brand_id)
        columns["is_repeated"] = to_brand.has_person(columns)
        received_at = at if new.received_on >= timezone.localdate(at) else _noon(new.received_on)
        # the reference is random, and can conflict
        application = retry_on_conflict(partial(_create, vacancy, received_at, columns))
        add_submission(application, new.answers, new.stored, source=new.channel)
        origin = Origin(
            application=application, channel=new.channel, basis=new.basis, author=author
        )
        origin.added_at, origin.informed_at = at, at if new.is_informed else None
        origin.save()
        if address:
            _inform(origin, base_url=base_url, at=at)
        unknown: list[str] = []
        if note:
            _note, unknown = add_note(
                application=application, text=note, author=author, base_url=base_url, at=at
            )
        idempotency.record(vacancy, key, content, application, at=at)
    return application, unknown


def _inform(origin: Origin, *, base_url: str, at: datetime) -> None:
    """Queue the email that tells the applicant what is stored, or asks whether it may be."""
    if origin.basis == Origin.Basis.CONSENT:
        ask(application=origin.application, base_url=base_url, at=at)
    else:
        queue_notice(origin, base_url=base_url, at=at)
    mark_informed(application=origin.application, at=at)


def mark_informed(*, application: Application, at: datetime) -> bool:
    """Record that the applicant was told what is stored. Return whether nobody had recorded it."""
    return bool(
        Origin.objects.filter(application=application, informed_at=None).update(informed_at=at)
    )


def correct_contact(
    *,
    application: Application,
    contact: Mapping[str, str],
    language: str,
    base_url: str = "",
    at: datetime,
) -> list[str]:
    """Replace the name, address, telephone number and language of an application that a colleague
    added. Return the names of the changed columns.

    A new address gets the email that the first one got, and a new link: the first one may be in the
    mailbox of somebody else. Raise ConfirmedError if the applicant has opened it.
    """
    with transaction.atomic():
        Application.objects.select_for_update().filter(pk=application.pk).first()
        current = (
            Application.objects.with_email_facts().select_related("origin").get(pk=application.pk)
        )
        if not is_correctable(current):
            raise ConfirmedError
        values = {**contact, "language": language}
        changed = [name for name, value in values.items() if getattr(current, name) != value]
        for name in changed:
            setattr(current, name, values[name])
        if "email" in changed:
            current.email_folded = folded_address(current.email)
            current.reference = new_reference()
            first = Message.objects.filter(application=current, state=Message.State.QUEUED)
            first.filter(
                kind__in=(Message.Kind.NOTICE, Message.Kind.CONSENT, Message.Kind.POOL),
                recipient=None,
            ).delete()
        if changed:
            current.phone_digits = phone_digits(current.phone)
            current.updated_at = at
            columns = ("email_folded", "phone_digits", "reference", "updated_at")
            current.save(update_fields=[*changed, *columns])
        if "email" in changed and current.email:
            _inform(current.origin, base_url=base_url, at=at)
    return changed


def is_correctable(application: Application) -> bool:
    """Whether the contact data are those that a colleague entered, and nobody
    has confirmed them.
    """
    is_confirmed = application.user_id or application.verified_at
    return not is_confirmed and Origin.objects.filter(application=application).exists()


def _create(vacancy: Vacancy, received_at: datetime, columns: dict[str, Any]) -> Application:
    columns["is_spontaneous"] = Requisition.takes_open_applications(vacancy)
    application = create_application(
        user=None, vacancy=vacancy, at=received_at, reference=new_reference(), **columns
    )
    # The time that it is kept begins when it is added.
    Application.objects.filter(pk=application.pk).update(updated_at=columns["read_at"])
    return application


def _noon(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, NOON), timezone.get_default_timezone())


def add_submission(
    application: Application, answers: Sequence[JsonObject], stored: StoredFiles, **columns: Any
) -> Submission:
    """Add a submission without a form of this site: `answers`, each with field, label and values,
    and the files that are `stored`, with other `columns`. By default, it has no consent.
    """
    files = {row.field: row.original_name for row in stored.rows}
    values: JsonObject = {each["field"]: "\n".join(each["values"]) for each in answers} | files
    hashes = {row.field: row.sha256 for row in stored.rows}
    without = {"consent_text": "", "consent_version": 0, "consented_at": application.created_at}
    submission = Submission.objects.create(
        application=application,
        values=values,
        snapshot=_snapshot(answers, files),
        fingerprint=idempotency.digest(values, hashes),
        **without | columns,
    )
    stored.add_rows(submission)
    return submission


def _snapshot(answers: Sequence[JsonObject], files: Mapping[str, str]) -> FormSnapshot:
    """Return a form that has a field for each answer and file."""
    labels = {each["field"]: each["label"] for each in answers}
    fields = [
        _field(name, labels.get(name, name), "file" if name in files else "textarea")
        for name in dict.fromkeys((*labels, *files))
    ]
    sections = [{"title": "", "description": "", "fields": fields}]
    digest = sha256(json.dumps(sections, sort_keys=True).encode()).hexdigest()
    return FormSnapshot.objects.get_or_create(digest=digest, defaults={"sections": sections})[0]


def _field(name: str, label: str, kind: str) -> JsonObject:
    return {"name": name, "type": kind, "label": label, "required": False, "css": "col-12"}
