"""The team of a vacancy. Its changes are entries of the vacancy's log."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import QuerySet

from jobsite.text.names import person
from vacancies.models import TeamMember, Vacancy

NAME = "team member"  # in the stored messages; translated where they are shown


def add_members(
    *, vacancy: Vacancy, users: Iterable[User], sees: str, author: User, at: datetime
) -> list[User]:
    """Let `users` see the applications to `vacancy`: those that `sees` says. Return who was not in
    the team; the others see now what it says.
    """
    added = []
    with transaction.atomic():
        for user in users:
            values = {"sees": sees}
            new = {**values, "added_by": author, "added_at": at}
            _member, is_new = TeamMember.objects.update_or_create(
                vacancy=vacancy, user=user, defaults=values, create_defaults=new
            )
            _log(author, vacancy, "added" if is_new else "changed", user)
            added += [user] if is_new else []
    return added


def remove_member(*, member: TeamMember, author: User) -> None:
    with transaction.atomic():
        TeamMember.objects.filter(pk=member.pk).delete()
        _log(author, member.vacancy, "deleted", member.user)


def copy_team(of: Vacancy, to: Vacancy, *, author: User | None, at: datetime) -> None:
    """Give `to`, a copy, the team of `of`."""
    rows = [
        TeamMember(vacancy=to, user_id=each.user_id, sees=each.sees, added_by=author, added_at=at)
        for each in of.team.all()
    ]
    TeamMember.objects.bulk_create(rows)


def log_of(vacancy: Vacancy) -> QuerySet[LogEntry]:
    """Return the changes of the team of `vacancy`, the latest first."""
    kind = ContentType.objects.get_for_model(Vacancy)
    rows = LogEntry.objects.filter(content_type=kind, object_id=str(vacancy.pk))
    return rows.filter(change_message__contains=f'"{NAME}"').select_related("user").order_by("-pk")


def _log(author: User, vacancy: Vacancy, step: str, user: User) -> None:
    values: dict[str, Any] = {"name": NAME, "object": person(user)}
    message: Any = [{step: {**values, "fields": ["sees"]} if step == "changed" else values}]
    LogEntry.objects.log_actions(author.pk, [vacancy], CHANGE, message)
