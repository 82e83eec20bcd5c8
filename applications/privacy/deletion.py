"""Deletion of applications and accounts with every row that refers to them."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from axes import models as axes
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, Model, Q, QuerySet
from django.utils import timezone

from applications.mail.interviews import queue_cancellations_before_erasure
from applications.models import (
    Application,
    ApplicationTag,
    ConsentRequest,
    HistoryEntry,
    Message,
    MessageFile,
    Note,
    Offer,
    Origin,
    Participant,
    Scorecard,
    StageChange,
    Submission,
    SubmissionFile,
    Token,
    VacancyChange,
)
from applications.operations.assigning import delete_unused_tags
from applications.submissions.files import delete_files

KINDS = (  # of deleted rows
    "applications",
    "submissions",
    "files",
    "emails",
    "files_of_emails",
    "notes",
    "scorecards",
    "stage_changes",
    "vacancy_changes",
    "steps",
    "origins",
    "consent_requests",
    "participants",
    "tags",
    "offers_of_times",
    "job_alerts",
    "accounts",
    "tokens",
    "sessions",
    "failed_sign_ins",
    "idempotency_keys",
    "used_proofs",
    "emails_to_colleagues",
    "emails_of_alerts",
    "unsaved_input",
    "invitations",
    "form_snapshots",
    "accesses",
    "log_entries",
)
BATCH = 500
_PARTS = {  # of an application, by kind
    "applications": Application,
    "submissions": Submission,
    "files": SubmissionFile,
    "emails": Message,
    "files_of_emails": MessageFile,
    "notes": Note,
    "scorecards": Scorecard,
    "stage_changes": StageChange,
    "vacancy_changes": VacancyChange,
    "steps": HistoryEntry,
    "origins": Origin,
    "consent_requests": ConsentRequest,
    "participants": Participant,
    "tags": ApplicationTag,
    "offers_of_times": Offer,
}
SIGN_INS = (
    axes.AccessAttempt,
    axes.AccessFailureLog,
    axes.AccessLog,
)  # name, IP address and time

logger = logging.getLogger(__name__)


def delete_applications(pks: Iterable[int]) -> Counter[str]:
    """Delete the applications `pks` with everything that belongs to them, and their entries in the
    admin's log. Their files are deleted after the commit: a crash leaves files without a row, which
    purge deletes.
    """
    wanted = list(pks)
    counts: Counter[str] = Counter()
    for start in range(0, len(wanted), BATCH):
        chosen = wanted[start : start + BATCH]
        queue_cancellations_before_erasure(chosen, at=timezone.now())
        for model in (StageChange, HistoryEntry, Note, Scorecard, Message, Submission):
            rows = model._default_manager.filter(application__in=chosen)
            counts["log_entries"] += _delete_log_of(model, rows.values_list("pk", flat=True))
        counts["log_entries"] += _delete_log_of(Application, chosen)
        files = SubmissionFile.objects.filter(submission__application__in=chosen)
        sent = MessageFile.objects.filter(message__application__in=chosen)
        paths = [*files.values_list("path", flat=True), *sent.values_list("path", flat=True)]
        deleted = Application.objects.filter(pk__in=chosen).delete()[1]
        counts.update({kind: deleted.get(model._meta.label, 0) for kind, model in _PARTS.items()})
        delete_unused_tags()  # they may describe the person
        transaction.on_commit(partial(_delete_files, paths))
    return counts


def _delete_files(paths: list[str]) -> None:
    for path in paths:
        try:
            delete_files([path])
        except OSError as error:  # the rows are deleted already
            logger.error("A file of an applicant is left for purge: %s.", type(error).__name__)


def delete_account(user: User, sessions: Mapping[int, list[str]]) -> Counter[str]:
    """Delete an account without applications, with its credentials, sessions and log entries."""
    counts: Counter[str] = Counter()
    counts["sessions"] = Session.objects.filter(pk__in=sessions.get(user.pk, [])).delete()[0]
    counts.update(delete_tokens(Token.objects.filter(user=user)))
    counts["failed_sign_ins"] = delete_sign_ins(user)
    own = LogEntry.objects.filter(user=user)
    counts["log_entries"] += _delete_log_of(User, [user.pk]) + own.delete()[0]
    user.delete()
    counts["accounts"] = 1
    return counts


def delete_tokens(tokens: QuerySet[Token]) -> Counter[str]:
    """Delete `tokens` and their log entries, which contain the first characters of each."""
    entries = _delete_log_of(Token, tokens.values_list("pk", flat=True))
    return Counter(log_entries=entries, tokens=tokens.delete()[0])


def delete_sign_ins(user: User | None = None, address: str = "") -> int:
    """Delete the failed sign-ins that `typed_by` matches. Return their number."""
    rows = typed_by(user, address)
    return sum(model._default_manager.filter(rows).delete()[0] for model in SIGN_INS)


def typed_by(user: User | None = None, address: str = "") -> Q:
    """Match failed sign-ins with the name or address of `user`, or with `address`, typed as a name;
    but not those with a name or address of another account: they are that account's, and count for
    its lockout.
    """
    names = {user.get_username(), user.email} if user else set()
    others = User._default_manager.exclude(pk__in=[user.pk] if user else [])
    typed = Q(pk__in=[])
    for name in (names | {address}) - {""}:
        named = others.filter(Q(username__iexact=name) | Q(email__iexact=name))
        typed |= Q(~Exists(named), username__iexact=name)
    return typed


def log_entries_about(model: type[Model], pks: Iterable[int]) -> Q:
    """Match entries of the admin's log about the rows `pks` of `model`."""
    kind = ContentType.objects.get_for_model(model)
    return Q(content_type=kind, object_id__in=[str(pk) for pk in pks])


def _delete_log_of(model: type[Model], pks: Iterable[int]) -> int:
    return LogEntry.objects.filter(log_entries_about(model, pks)).delete()[0]
