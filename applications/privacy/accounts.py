"""Accounts and their sessions."""

from collections import defaultdict
from collections.abc import Mapping

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils.http import base36_to_int

CHUNK = 500
# Session key of django-allauth for a sign-in that waits for its second factor.
PENDING = "account_login"


class NoSuchAccountError(Exception):
    """There is no account of this name.
    The message does not contain it, because messages are logged.
    """


class StaffAccountError(Exception):
    """The account is not an applicant's."""


def find(*, username: str) -> User:
    """Return the account `username`. Raise NoSuchAccountError."""
    user = User._default_manager.filter(username=User.normalize_username(username)).first()
    if user is None:
        raise NoSuchAccountError("There is no account of this name.")
    return user


def end_sessions(*, user: User) -> int:
    """Delete all sessions and pending sign-ins of `user`. Return their number."""
    keys = sessions_by_account().get(user.pk, [])
    return Session.objects.filter(pk__in=keys).delete()[0]


def sessions_by_account() -> Mapping[int, list[str]]:
    """Return the session keys by account id, including sign-ins that wait for a second factor."""
    keys: dict[int, list[str]] = defaultdict(list)
    for session in Session.objects.iterator(chunk_size=CHUNK):
        data = session.get_decoded()
        accounts = {str(data.get(SESSION_KEY, ""))}
        if pending := data.get(PENDING):
            accounts.add(str(base36_to_int(pending["user_pk"])))
        for pk in accounts:
            if pk.isdecimal():
                keys[int(pk)].append(session.pk)
    return keys
