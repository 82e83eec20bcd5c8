"""Texts about others that may mention a person. Erasures keep them, and `erase_applicant` lists
them (docs/decisions.md #236).
"""

import json

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db.models import Model, Q

from applications.models import (
    Application,
    HistoryEntry,
    Message,
    MessageFile,
    Note,
    Scorecard,
    Tag,
)
from applications.querysets import folded_address
from vacancies.models import Requisition

LISTED_MAX = 100  # rows of a kind
_TEXTS: dict[str, tuple[type[Model], tuple[str, ...]]] = {
    "notes": (Note, ("text",)),
    "scorecards": (Scorecard, ("text",)),
    "interviews and tasks": (HistoryEntry, ("name", "result", "place", "details")),
    "tags": (Tag, ("name",)),
    "emails": (Message, ("subject", "body")),
    "files of emails": (MessageFile, ("original_name",)),
    "internal data of vacancies": (Requisition, ("client", "note")),
    "entries of the admin's log": (LogEntry, ("object_repr", "change_message")),
}


def names_of(user: User | None, address: str) -> set[str]:
    """Return the full names and e-mail addresses of the account `user`, and of the applications
    that were sent from `address`. A first, last or user name alone is not one of them: it matches
    too much.
    """
    names = {address}
    if user:
        names |= {user.email, _full(user.first_name, user.last_name)}
    own = Q(email_folded=folded_address(address)) if address else Q(pk__in=[])
    rows = Application.objects.filter(own | Q(user=user) if user else own).order_by()
    for given, family, email in rows.values_list("given_name", "family_name", "email"):
        names |= {email, _full(given, family)}
    return names - {""}


def possible_mentions(names: set[str]) -> dict[str, list[int]]:
    """Return the ids of the rows that contain one of `names`, in any case, by kind:
    the first LISTED_MAX.
    """
    found = {}
    for kind, (model, fields) in _TEXTS.items():
        mentioned = Q(pk__in=[])
        for name in names:
            for form in {name, json.dumps(name)[1:-1]}:  # as escaped in a change message
                for field in fields:
                    mentioned |= Q(**{f"{field}__icontains": form})
        rows = model._default_manager.filter(mentioned).order_by("pk")
        found[kind] = list(rows.values_list("pk", flat=True)[:LISTED_MAX])
    return {kind: pks for kind, pks in found.items() if pks}


def _full(first: str, last: str) -> str:
    return f"{first} {last}" if first and last else ""
