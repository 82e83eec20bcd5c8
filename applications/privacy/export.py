"""Export of the data about an applicant."""

from base64 import b64encode
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import Prefetch, Q

from applications.models import (
    Access,
    AccessLog,
    Application,
    HistoryEntry,
    JobAlert,
    Message,
    PrivateFile,
    StageChange,
    Token,
    VacancyChange,
    without_undone,
)
from applications.privacy.accounts import sessions_by_account
from applications.privacy.deletion import SIGN_INS, log_entries_about, typed_by
from applications.querysets import folded_address
from applications.submissions.answers import answers
from applications.submissions.files import open_file
from jobsite.languages import site_language
from jobsite.text.names import person
from jobsite.types import JsonObject

_ONES = ("vacancy", "origin", "owner", "submission__snapshot")
_RELATED = (
    Prefetch("changes", StageChange.objects.select_related("stage__status", "reason")),
    "consent_requests",
    "tag_links__tag",
    Prefetch("history", HistoryEntry.objects.with_answer()),
    "messages__files",
    "notes",
    "scorecards",
    "submission__files",
    Prefetch("vacancy_changes", VacancyChange.objects.select_related("before")),
)


def export(
    *,
    user: User | None = None,
    address: str = "",
    now: datetime,
    is_own: bool = False,
    has_content: bool = False,
) -> JsonObject:
    """Return all data about the account `user`, and about the applications and job alerts of
    `address`. Secrets and hashes of secrets are omitted. Internal stages are exported as the
    statuses that the applicant sees. `has_content`: with the content of files, in base64.

    The access log records the export, unless it `is_own`: the applicant's own download. That one
    has only what applicants see on the site, without recruiters' notes (docs/decisions.md #163).
    """
    own = Q(email_folded=folded_address(address)) if address else Q(pk__in=[])
    rows = Application.objects.filter(own | Q(user=user) if user else own).newest_first()
    applications = list(rows.select_related(*_ONES).prefetch_related(*_RELATED))
    pks = [application.pk for application in applications]
    data = {
        "account": user and _account(user),
        "applications": [_application(each, now, is_own, has_content) for each in applications],
        **_credentials(user, address),
    }
    if address:
        data["job_alerts"] = _alerts(address)
    if not is_own:
        AccessLog.objects.bulk_create(
            AccessLog(application=pk, action=Access.EXPORT, at=now) for pk in pks
        )
        data["accesses"] = [
            {
                "application": access.application,
                "action": access.get_action_display(),
                "at": access.at,
            }
            for access in AccessLog.objects.filter(application__in=pks).order_by("at", "pk")
        ]
    return data


def _alerts(address: str) -> list[JsonObject]:
    names = (
        "address",
        "query",
        "language",
        "frequency",
        "created_at",
        "confirmed_at",
        "told_at",
        "ends_at",
    )
    rows = JobAlert.objects.filter(address_folded=folded_address(address)).select_related("brand")
    return [
        {name: getattr(alert, name) for name in names}
        | {
            "brand": alert.brand and alert.brand.name,
            "told_vacancies": list(alert.told.order_by("pk").values_list("vacancy", flat=True)),
            "emails": [_email(message) for message in alert.messages.all()],
        }
        for alert in rows.prefetch_related("messages").order_by("pk")
    ]


def export_application(*, application: Application, now: datetime) -> JsonObject:
    """Return what the applicant sees of one application, without an account."""
    rows = Application.objects.filter(pk=application.pk)
    found = rows.select_related(*_ONES).prefetch_related(*_RELATED)
    return {"applications": [_application(each, now, is_own=True) for each in found]}


def _account(user: User) -> JsonObject:
    return {
        "username": user.get_username(),
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "is_active": user.is_active,
        "date_joined": user.date_joined,
        "last_login": user.last_login,
    }


def _credentials(user: User | None, address: str) -> JsonObject:
    attempts = (
        row for model in SIGN_INS for row in model._default_manager.filter(typed_by(user, address))
    )
    sessions = sessions_by_account().get(user.pk, []) if user else []
    changes = LogEntry.objects.filter(log_entries_about(User, [user.pk] if user else []))
    return {
        "tokens": list(
            Token.objects.filter(user=user).order_by("created").values("created", "expiry")
        )
        if user
        else [],
        "sessions": list(
            Session.objects.filter(pk__in=sessions).order_by("expire_date").values("expire_date")
        ),
        "changes_of_account": list(changes.order_by("action_time").values("action_time")),
        "failed_sign_ins": [
            {"at": row.attempt_time, "address": row.ip_address, "browser": row.user_agent}
            for row in attempts
        ],
    }


def _application(
    application: Application, now: datetime, is_own: bool, has_content: bool = False
) -> JsonObject:
    changes = without_undone(list(application.changes.all()))
    visible = [change for change in changes if change.visible_at <= now] or changes[:1]
    emails = [
        message
        for message in application.messages.all()
        if message.recipient_id is None and (not is_own or message.state == Message.State.SENT)
    ]
    data: JsonObject = {
        "id": application.pk,
        "reference": application.reference,
        "vacancy": {"id": application.vacancy.pk, "title": application.vacancy.title},
        "given_name": application.given_name,
        "family_name": application.family_name,
        "email": application.email,
        "phone": application.phone,
        "language": application.language,
        "is_spontaneous": application.is_spontaneous,
        "is_repeated": application.is_repeated,
        "created_at": application.created_at,
        "verified_at": application.verified_at,
        "withdrawn_at": application.withdrawn_at,
        "statuses": [
            {
                "at": min(change.visible_at, now),
                "status": change.stage.status.label(site_language()),
            }
            for change in visible
        ],
        "history": _history(application, is_own),
        "submission": _submission(application, has_content),
        "consent_requests": _consents(application),
        "emails": [
            _email(message) | {"files": [_file(each, has_content) for each in message.files.all()]}
            for message in emails
        ],
    }
    return data if is_own else data | _of_recruiters(application, changes)


def _of_recruiters(application: Application, changes: list[StageChange]) -> JsonObject:
    """Return what the applicant does not see of `application`, which has these `changes`."""
    return {
        "updated_at": application.updated_at,  # would show a stage under embargo
        "rating": application.rating,
        "earlier_vacancies": [
            {"until": change.at, "title": change.before and change.before.title}
            for change in application.vacancy_changes.all()
        ],
        "reasons": [
            {"at": change.at, "reason": str(change.reason)} for change in changes if change.reason
        ],
        "owner": person(application.owner) if application.owner else None,
        "tags": [link.tag.name for link in application.tag_links.all()],
        "origin": _origin(application),
        "notes": [{"at": note.created_at, "text": note.text} for note in application.notes.all()],
        "scorecards": _scorecards(application),
    }


def _email(message: Message) -> JsonObject:
    return {
        "to": message.to,
        "subject": message.subject,
        "body": message.text,
        "state": message.state,
        "queued_at": message.queued_at,
        "finished_at": message.finished_at,
    }


def _scorecards(application: Any) -> list[JsonObject]:
    return [
        {
            "at": card.sent_at,
            "recommendation": card.get_recommendation_display(),
            "scores": card.scores,
            "text": card.text,
        }
        for card in application.scorecards.all()
    ]


def _origin(application: Application) -> JsonObject | None:
    """How the application came in, if a colleague added it."""
    origin = getattr(application, "origin", None)
    names = ("channel", "basis", "informed_at")
    return origin and {name: getattr(origin, name) for name in names}


def _consents(application: Application) -> list[JsonObject]:
    names = (
        "purpose",
        "employer",
        "text",
        "version",
        "asked_at",
        "due_on",
        "reminded_at",
        "answered_at",
        "answer",
        "until",
        "left_at",
    )
    return [
        {name: getattr(each, name) for name in names} for each in application.consent_requests.all()
    ]


def _history(application: Application, is_own: bool) -> list[JsonObject]:
    names = ["name", "result", "planned_at", "is_visible", "created_at", "updated_at"]
    own = ["ends_at", "zone", "place", "video_url", "details", "is_cancelled"]  # of interviews
    steps = []
    rows: Iterable[Any] = application.history.all()  # with the answer, see _RELATED
    for step in rows:
        if is_own and not (step.is_visible and settings.APPLICATION_HISTORY):
            continue
        data = {name: getattr(step, name) for name in (*names, *(own if step.is_interview else ()))}
        if step.address:
            data |= {name: getattr(step, name) for name in ("address", "reply", "replied_at")}
        steps.append(data)
    return steps


def _submission(application: Application, has_content: bool) -> JsonObject | None:
    submission = getattr(application, "submission", None)
    if submission is None:
        return None
    given = (
        answer for section in answers(submission) for answer in section.answers if answer.values
    )
    return {
        "answers": [
            {"field": each.name, "label": each.label, "values": each.values} for each in given
        ],
        "values": submission.values,
        "files": [
            {"field": each.field} | _file(each, has_content) for each in submission.files.all()
        ],
        "source": submission.source,
        "consent_text": submission.consent_text,
        "consent_version": submission.consent_version,
        "consented_at": submission.consented_at,
    }


def _file(file: PrivateFile, has_content: bool) -> JsonObject:
    data = {
        "name": file.original_name,
        "size": file.size,
        "kind": file.kind,
        "sha256": file.sha256,
        "scan": file.scan_state,
    }
    if has_content:
        try:
            with open_file(file) as content:
                data["content"] = b64encode(content.read()).decode()
        except FileNotFoundError:
            data["content"] = None
    return data
