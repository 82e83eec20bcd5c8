"""Export of the data about an applicant."""

from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session

from applications.models import Access, AccessLog, Application, Token, without_undone
from applications.privacy.accounts import sessions_by_account
from applications.privacy.deletion import SIGN_INS, log_entries_about, typed_by
from jobsite.languages import site_language

User = get_user_model()


def export(*, user: Any, now: datetime) -> dict[str, Any]:
    """Return all data about `user` and record the export in the access log. Secrets and hashes are omitted.
    Internal stages are exported as the statuses that the applicant sees."""
    applications = list(
        Application.objects.of(user)
        .newest_first()
        .select_related("vacancy")
        .prefetch_related("changes__stage__status", "history")
    )
    pks = [application.pk for application in applications]
    AccessLog.objects.bulk_create(AccessLog(application=pk, action=Access.EXPORT, at=now) for pk in pks)
    attempts = (row for model in SIGN_INS for row in model._default_manager.filter(typed_by(user)))
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
        "applications": [_application(application, now) for application in applications],
        "tokens": list(Token.objects.filter(user=user).order_by("created").values("created", "expiry")),
        "sessions": list(
            Session.objects.filter(pk__in=sessions_by_account().get(user.pk, []))
            .order_by("expire_date")
            .values("expire_date")
        ),
        "changes_of_account": list(
            LogEntry.objects.filter(log_entries_about(User, [user.pk]))
            .order_by("action_time")
            .values("action_time")
        ),
        "failed_sign_ins": [
            {"at": row.attempt_time, "address": row.ip_address, "browser": row.user_agent} for row in attempts
        ],
        "accesses": [
            {"application": access.application, "action": access.get_action_display(), "at": access.at}
            for access in AccessLog.objects.filter(application__in=pks).order_by("at", "pk")
        ],
    }


def _application(application: Application, now: datetime) -> dict[str, Any]:
    changes = without_undone(list(application.changes.all()))
    visible = [change for change in changes if change.visible_at <= now] or changes[:1]
    return {
        "id": application.pk,
        "vacancy": {"id": application.vacancy.pk, "title": application.vacancy.title},
        "is_spontaneous": application.is_spontaneous,
        "created_at": application.created_at,
        "updated_at": application.updated_at,
        "statuses": [
            {"at": min(change.visible_at, now), "status": change.stage.status.label(site_language())}
            for change in visible
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
