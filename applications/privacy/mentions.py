"""Removal of a person's name and addresses from rows about others: the admin's log, notes and emails."""

import json
import re
from collections import Counter
from collections.abc import Iterable

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db.models import Model, Q

from applications.models import Application, Message, Note

ERASED = "[erased]"


def names_of(user: User | None, applications: Iterable[Application]) -> set[str]:
    """Return the user name, e-mail addresses and full names of a person. A first or last name alone is not
    one of them: others may have it."""
    names = {user.get_username(), user.email, _full(user.first_name, user.last_name)} if user else set()
    for application in applications:
        names |= {application.email, _full(application.given_name, application.family_name)}
    return names - {""}


def clean(names: set[str]) -> Counter[str]:
    """Replace `names` by ERASED, in any case, but not within other words. Return the number of changed rows
    by kind.

    User names are replaced in the admin's log only: "mark" is also a word. Notes and emails about others who
    have the same name or address are kept.
    """
    counts: Counter[str] = Counter()
    counts["log_entries_cleaned"] = _clean(LogEntry, ("object_repr", "change_message"), names)
    names = {name for name in names if " " in name or "@" in name}
    counts["notes_cleaned"] = _clean(Note, ("text",), names)
    counts["emails_cleaned"] = _clean(Message, ("subject", "body"), names)
    return counts


def _full(first: str, last: str) -> str:
    return f"{first} {last}" if first and last else ""


def _clean(model: type[Model], fields: tuple[str, ...], names: set[str]) -> int:
    if not names:
        return 0
    # only as a whole word, name or address
    patterns = (rf"(?<![\w.@+-]){re.escape(name)}(?!\.?[\w@+-])" for name in names)
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    mentioned = Q()
    for name in names:
        for form in {name, json.dumps(name)[1:-1]}:  # as escaped in a change message
            for field in fields:
                mentioned |= Q(**{f"{field}__icontains": form})
    count = 0
    for row in model._default_manager.filter(mentioned):
        if _is_namesake(getattr(row, "application", None), names):
            continue
        before = [getattr(row, field) for field in fields]
        after = [_clean_text(text, pattern) for text in before]
        if before != after:
            model._default_manager.filter(pk=row.pk).update(**dict(zip(fields, after, strict=True)))
            count += 1
    return count


def _is_namesake(application: Application | None, names: set[str]) -> bool:
    own = names_of(application.user, [application]) if application else set()
    return not {name.casefold() for name in own}.isdisjoint(name.casefold() for name in names)


def _clean_text(text: str, pattern: re.Pattern[str]) -> str:
    """Return `text`, which can be the JSON of a change message, without the names."""

    def clean(node: object) -> object:
        if isinstance(node, dict):
            return {key: clean(value) for key, value in node.items()}
        if isinstance(node, list):
            return [clean(member) for member in node]
        return pattern.sub(ERASED, node) if isinstance(node, str) else node

    try:
        content = json.loads(text)
    except ValueError:
        return pattern.sub(ERASED, text)
    cleaned = clean(content)
    return text if cleaned == content else json.dumps(cleaned)
