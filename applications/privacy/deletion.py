"""Deletion of applications and accounts with every row that refers to them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from axes import models as axes
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet

from applications.models import Application, HistoryEntry, StageChange, Token

User = get_user_model()

KINDS = (  # of deleted rows
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
SIGN_INS = (
    axes.AccessAttempt,
    axes.AccessFailureLog,
    axes.AccessLog,
)  # name, IP address and time


def delete_applications(pks: Iterable[int]) -> Counter[str]:
    """Delete the applications `pks` with their stage changes, steps and entries in the admin's log."""
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


def delete_account(user: Any, sessions: Mapping[int, list[str]]) -> Counter[str]:
    """Delete an account without applications, with its credentials, sessions and log entries."""
    counts: Counter[str] = Counter()
    counts["sessions"] = Session.objects.filter(pk__in=sessions.get(user.pk, [])).delete()[0]
    counts.update(delete_tokens(Token.objects.filter(user=user)))
    for model in SIGN_INS:
        rows = model._default_manager.filter(typed_by(user))
        counts["failed_sign_ins"] += rows.count()
        rows.delete()
    own = LogEntry.objects.filter(user=user)
    counts["log_entries"] += _delete_log_of(User, [user.pk]) + own.delete()[0]
    counts["log_entries_cleaned"] = _clean_log(user)
    user.delete()
    counts["accounts"] = 1
    return counts


def delete_tokens(tokens: QuerySet[Token]) -> Counter[str]:
    """Delete `tokens` and their log entries, which contain the first characters of each."""
    entries = _delete_log_of(Token, tokens.values_list("pk", flat=True))
    return Counter(log_entries=entries, tokens=tokens.delete()[0])


def typed_by(user: Any) -> Q:
    """Match failed sign-ins with the name of `user`, or with the e-mail address typed as a name."""
    typed = Q(username__iexact=user.get_username())
    return typed | Q(username__iexact=user.email) if user.email else typed


def log_entries_about(model: Any, pks: Iterable[Any]) -> Q:
    """Match entries of the admin's log about the rows `pks` of `model`."""
    kind = ContentType.objects.get_for_model(model)
    return Q(content_type=kind, object_id__in=[str(pk) for pk in pks])


def _delete_log_of(model: Any, pks: Iterable[Any]) -> int:
    return LogEntry.objects.filter(log_entries_about(model, pks)).delete()[0]


def _clean_log(user: Any) -> int:
    """Replace the user name, e-mail address and full name of `user` in log entries about other rows. Return
    the number of changed entries. A first or last name alone is not replaced: others may have it."""
    full = user.get_full_name()
    names = {user.get_username(), user.email, full if " " in full else ""} - {""}
    # only as a whole word, name or address
    patterns = (rf"(?<![\w.@+-]){re.escape(name)}(?!\.?[\w@+-])" for name in names)
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    mentioned = Q()
    for name in names:
        in_json = json.dumps(name)[1:-1]  # as escaped in a change message
        mentioned |= Q(object_repr__icontains=name) | Q(change_message__icontains=name)
        mentioned |= Q(change_message__icontains=in_json)
    count = 0
    for entry in LogEntry.objects.filter(mentioned):
        before = entry.object_repr, entry.change_message
        entry.object_repr = pattern.sub(ERASED, entry.object_repr)
        entry.change_message = _clean_message(entry.change_message, pattern)
        if before != (entry.object_repr, entry.change_message):
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
        content = json.loads(message)
    except ValueError:
        return pattern.sub(ERASED, message)
    cleaned = clean(content)
    return message if cleaned == content else json.dumps(cleaned)
