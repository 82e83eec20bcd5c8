"""What is held about applicants: told to them, kept no longer than needed, and gone when they ask."""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

from axes import models as axes
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import ProtectedError, Q, QuerySet
from django.utils import timezone
from django.utils.http import base36_to_int

from applications.models import Access, AccessLog, Application, HistoryEntry, StageChange, Token
from jobsite.languages import site_language

User = get_user_model()

KINDS = (  # of rows that go
    "applications",
    "stage_changes",
    "steps",
    "accounts",
    "tokens",
    "sessions",
    "failed_sign_ins",
    "accesses",
    "log_entries",
    "log_entries_cleaned",
)
BATCH = 500
ERASED = "[erased]"
PENDING = "account_login"  # where django-allauth keeps a sign-in in a session until its second factor
_SIGN_INS = (axes.AccessAttempt, axes.AccessFailureLog, axes.AccessLog)  # each a name, an address, a moment


class NoSuchAccountError(Exception):
    """Nobody has this name; the message does not repeat it, logs keep messages."""


class StaffAccountError(Exception):
    """The account is not an applicant's."""


def find(*, username: str) -> Any:
    """Return the account called `username`, or raise NoSuchAccountError."""
    user = User._default_manager.filter(username=User.normalize_username(username)).first()
    if user is None:
        raise NoSuchAccountError("There is no account of this name.")
    return user


# --- Erasing -----------------------------------------------------------------------------------


def erase(*, user: Any, is_logged: bool = True) -> Counter[str]:
    """Let nothing remain of the applicant `user`; return how many rows of each kind went.

    That it was done is written down outside the database, by a mark that names nobody, if `is_logged`:
    a backup from before still has the applicant (`erase_again`).

    Who looked at their applications stays on record: it names them by number, and no number leads to a
    person any more. Raises StaffAccountError for whoever may enter the admin, and Django's ProtectedError
    where something else is theirs, NoSuchAccountError where somebody else erased it meanwhile.
    """
    mark = _mark(user.pk, user.date_joined)
    with transaction.atomic():
        user = User._default_manager.select_for_update().filter(pk=user.pk).first()
        if user is None:
            raise NoSuchAccountError("There is no account of this name.")
        if user.is_staff or user.is_superuser:
            raise StaffAccountError
        counts = _delete_applications(Application.objects.of(user).values_list("pk", flat=True))
        counts.update(_delete_account(user, sessions_by_account()))
        if settings.ERASURE_LOG and is_logged:  # before the commit: what is not written down is not done
            with open(settings.ERASURE_LOG, "a", opener=partial(os.open, mode=0o600)) as log:
                log.write(f"{timezone.now():%Y-%m-%dT%H:%M:%SZ} {mark}\n")
                log.flush()
                os.fsync(log.fileno())
        return counts


def erase_again() -> Counter[str] | None:
    """After a restore: erase those who are in the ERASURE_LOG; return how many accounts were erased, and how
    many kept as something hangs on them, or None where there is no such log. A later account of the
    same name is another one."""
    if not settings.ERASURE_LOG or not os.path.exists(settings.ERASURE_LOG):
        return None
    with open(settings.ERASURE_LOG) as log:
        marks = {line.split()[-1] for line in log if line.strip()}
    counts: Counter[str] = Counter(erased=0, kept=0)
    for pk, joined in User._default_manager.values_list("pk", "date_joined").order_by("pk").iterator():
        if _mark(pk, joined) in marks:
            try:
                erase(user=User._default_manager.get(pk=pk), is_logged=False)  # it is already
                counts["erased"] += 1
            except (ProtectedError, StaffAccountError):
                counts["kept"] += 1
    return counts


def _mark(pk: int, joined: datetime) -> str:
    """Stands for an account, and tells nothing to those who do not have it."""
    return sha256(f"{pk} {joined.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}".encode()).hexdigest()


def end_sessions(*, user: Any) -> int:
    """End all sessions and pending sign-ins of `user`; return how many there were."""
    keys = sessions_by_account().get(user.pk, [])
    return Session.objects.filter(pk__in=keys).delete()[0]


def sessions_by_account() -> Mapping[int, list[str]]:
    """Return the keys of all sessions by account, including sign-ins that wait for a second factor."""
    keys: dict[int, list[str]] = defaultdict(list)
    for session in Session.objects.iterator(chunk_size=BATCH):
        data = session.get_decoded()
        accounts = {str(data.get(SESSION_KEY, ""))}
        if pending := data.get(PENDING):
            accounts.add(str(base36_to_int(pending["user_pk"])))
        for pk in accounts:
            if pk.isdecimal():
                keys[int(pk)].append(session.pk)
    return keys


def _delete_applications(pks: Iterable[int]) -> Counter[str]:
    """Delete applications with all that hangs on them, the admin's log of it included."""
    wanted = list(pks)
    counts: Counter[str] = Counter()
    for start in range(0, len(wanted), BATCH):
        chosen = wanted[start : start + BATCH]
        for model in (StageChange, HistoryEntry):
            rows = model._default_manager.filter(application__in=chosen)
            counts["log_entries"] += _delete_log_of(model, rows.values_list("pk", flat=True))
        counts["log_entries"] += _delete_log_of(Application, chosen)
        deleted = Application.objects.filter(pk__in=chosen).delete()[1]
        counts["applications"] += deleted.get(Application._meta.label, 0)
        counts["stage_changes"] += deleted.get(StageChange._meta.label, 0)
        counts["steps"] += deleted.get(HistoryEntry._meta.label, 0)
    return counts


def _delete_account(user: Any, sessions: Mapping[int, list[str]]) -> Counter[str]:
    """Delete an account that has no applications, with its credentials and its traces."""
    counts: Counter[str] = Counter()
    counts["sessions"] = Session.objects.filter(pk__in=sessions.get(user.pk, [])).delete()[0]
    counts.update(_delete_tokens(Token.objects.filter(user=user)))
    for model in _SIGN_INS:
        rows = model._default_manager.filter(_typed(user))
        counts["failed_sign_ins"] += rows.count()
        rows.delete()
    own = LogEntry.objects.filter(user=user)
    counts["log_entries"] += _delete_log_of(User, [user.pk]) + own.delete()[0]
    counts["log_entries_cleaned"] = _clean_log(user)
    user.delete()
    counts["accounts"] = 1
    return counts


def _delete_tokens(tokens: QuerySet[Token]) -> Counter[str]:
    """Delete `tokens`, and the admin's log of them: it has the beginning of each."""
    entries = _delete_log_of(Token, tokens.values_list("pk", flat=True))
    return Counter(log_entries=entries, tokens=tokens.delete()[0])


def _typed(user: Any) -> Q:
    """Sign-ins with the name of `user`, or with the e-mail address that people type for it."""
    typed = Q(username__iexact=user.get_username())
    return typed | Q(username__iexact=user.email) if user.email else typed


def _about(model: Any, pks: Iterable[Any]) -> Q:
    """What the admin's log tells of rows of `model`."""
    kind = ContentType.objects.get_for_model(model)
    return Q(content_type=kind, object_id__in=[str(pk) for pk in pks])


def _delete_log_of(model: Any, pks: Iterable[Any]) -> int:
    return LogEntry.objects.filter(_about(model, pks)).delete()[0]


def _clean_log(user: Any) -> int:
    """Take the name and the address of `user` out of what the admin's log tells of other things. A first
    or a last name alone may be somebody else's, and stays."""
    full = user.get_full_name()
    names = {user.get_username(), user.email, full if " " in full else ""} - {""}
    # not inside another word, name or address
    whole = (rf"(?<![\w.@+-]){re.escape(name)}(?!\.?[\w@+-])" for name in names)
    pattern = re.compile("|".join(whole), re.IGNORECASE)
    mentioned = Q()
    for name in names:
        in_json = json.dumps(name)[1:-1]  # as the admin writes a change message
        mentioned |= Q(object_repr__icontains=name) | Q(change_message__icontains=name)
        mentioned |= Q(change_message__icontains=in_json)
    count = 0
    for entry in LogEntry.objects.filter(mentioned):
        said = entry.object_repr, entry.change_message
        entry.object_repr = pattern.sub(ERASED, entry.object_repr)
        entry.change_message = _clean_message(entry.change_message, pattern)
        if said != (entry.object_repr, entry.change_message):
            entry.save(update_fields=["object_repr", "change_message"])
            count += 1
    return count


def _clean_message(message: str, pattern: re.Pattern[str]) -> str:
    def clean(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: clean(value) for key, value in node.items()}
        if isinstance(node, list):
            return [clean(member) for member in node]
        return pattern.sub(ERASED, node) if isinstance(node, str) else node

    try:
        said = json.loads(message)
    except ValueError:
        return pattern.sub(ERASED, message)
    cleaned = clean(said)
    return message if cleaned == said else json.dumps(cleaned)


# --- Retention ---------------------------------------------------------------------------------


def purge(*, before: datetime, now: datetime) -> Counter[str]:
    """Delete applications that nothing has happened to since `before` and no step is planned for, then
    applicants' accounts that have none left and are as old, and tokens, sessions and failed sign-ins that
    are over; return how many rows of each kind went.

    An account that has a role (staff, a group, a permission), a token that is still good, or something
    else that hangs on it, stays.
    """
    with transaction.atomic():
        planned = HistoryEntry.objects.filter(planned_at__gte=now).values("application")
        old = Application.objects.filter(updated_at__lt=before).exclude(pk__in=planned)
        stale = old.select_for_update()
        counts = _delete_applications(stale.values_list("pk", flat=True))
        # what is on record of applications that are gone, now or by erasure
        left = Application.objects.values("pk")
        record = AccessLog.objects.filter(~Q(application__in=left), at__lt=before)
        counts["accesses"] = record.delete()[0]
        counts.update(purge_credentials(now=now))
    sessions = sessions_by_account()
    for user in list(_idle_accounts(before)):
        try:
            with transaction.atomic():
                # Locked, then read again: its owner may have come back since the list was read.
                User._default_manager.select_for_update().filter(pk=user.pk).first()
                for idle in _idle_accounts(before).filter(pk=user.pk):
                    counts.update(_delete_account(idle, sessions))
        except ProtectedError:
            counts["accounts_kept"] += 1
    return counts


def purge_credentials(*, now: datetime) -> Counter[str]:
    """Delete tokens, sessions and failed sign-ins that are over; return how many rows of each kind went."""
    with transaction.atomic():
        counts = _delete_tokens(Token.objects.filter(expiry__lt=now))
        counts["sessions"] += Session.objects.filter(expire_date__lt=now).delete()[0]
        over = now - settings.AXES_COOLOFF_TIME
        counts["failed_sign_ins"] += axes.AccessAttempt.objects.filter(attempt_time__lt=over).delete()[0]
    return counts


def _idle_accounts(before: datetime) -> Any:
    return User._default_manager.filter(
        Q(last_login=None) | Q(last_login__lt=before),
        is_staff=False,
        is_superuser=False,
        groups=None,
        user_permissions=None,
        applications=None,
        auth_token_set=None,
        date_joined__lt=before,
    ).order_by("pk")


# --- Telling -----------------------------------------------------------------------------------


def export(*, user: Any, now: datetime) -> dict[str, Any]:
    """Everything that is held about `user`, put on record as such. Secrets and their hashes are left
    out, and of our own stages stands what the applicant reads, from when."""
    applications = list(
        Application.objects.of(user)
        .newest_first()
        .select_related("vacancy")
        .prefetch_related("changes__stage__status", "history")
    )
    pks = [application.pk for application in applications]
    AccessLog.objects.bulk_create(AccessLog(application=pk, action=Access.EXPORT, at=now) for pk in pks)
    attempts = (row for model in _SIGN_INS for row in model._default_manager.filter(_typed(user)))
    return {
        "account": {
            "username": user.get_username(),
            "email": user.email,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "is_active": user.is_active,
            "date_joined": user.date_joined,
            "last_login": user.last_login,
        },
        "applications": [_told(application, now) for application in applications],
        "tokens": list(Token.objects.filter(user=user).order_by("created").values("created", "expiry")),
        "sessions": list(
            Session.objects.filter(pk__in=sessions_by_account().get(user.pk, []))
            .order_by("expire_date")
            .values("expire_date")
        ),
        "changes_of_account": list(
            LogEntry.objects.filter(_about(User, [user.pk])).order_by("action_time").values("action_time")
        ),
        "failed_sign_ins": [
            {"at": row.attempt_time, "address": row.ip_address, "browser": row.user_agent} for row in attempts
        ],
        "accesses": [
            {"application": access.application, "action": access.get_action_display(), "at": access.at}
            for access in AccessLog.objects.filter(application__in=pks).order_by("at", "pk")
        ],
    }


def _told(application: Application, now: datetime) -> dict[str, Any]:
    changes = list(application.changes.all())
    told = [change for change in changes if change.visible_at <= now] or changes[:1]
    return {
        "id": application.pk,
        "vacancy": {"id": application.vacancy.pk, "title": application.vacancy.title},
        "is_spontaneous": application.is_spontaneous,
        "created_at": application.created_at,
        "updated_at": application.updated_at,
        "statuses": [
            {"at": min(change.visible_at, now), "status": change.stage.status.label(site_language())}
            for change in told
        ],
        "history": [
            {
                "name": step.name,
                "result": step.result,
                "planned_at": step.planned_at,
                "is_visible": step.is_visible,
                "created_at": step.created_at,
                "updated_at": step.updated_at,
            }
            for step in application.history.all()
        ],
    }
