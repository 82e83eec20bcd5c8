"""Notes of recruiters, and the colleagues that they mention."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from applications.access import sees_whole
from applications.mail.mentions import queue_mentions
from applications.models import Application, Note
from applications.querysets import readers_of

# The characters of user names, not within an address.
_MENTION = re.compile(r"(?<![\w.+-])@([\w.@+-]+)")


def add_note(
    *,
    application: Application,
    text: str,
    author: User,
    is_for_team: bool = False,
    base_url: str = "",
    at: datetime,
) -> tuple[Note, list[str]]:
    """Add a note with `text`, and queue an email to each colleague that it mentions by @username.
    Return the note, and the names that are of nobody who may view it: they get no email. Notes of
    who only judges are always for the team.
    """
    is_for_team = is_for_team or not sees_whole(author)
    readers = readers_of(application.vacancy, application.pk).exclude(pk=author.pk)
    mentioned, unknown = mentions(text, readers)
    if not is_for_team:
        unknown += [each.get_username() for each in mentioned if not sees_whole(each)]
        mentioned = [each for each in mentioned if sees_whole(each)]
    unknown = [name for name in unknown if name.casefold() != author.get_username().casefold()]
    with transaction.atomic():
        note = Note.objects.create(
            application=application,
            author=author,
            text=text,
            is_for_team=is_for_team,
            created_at=at,
        )
        note.mentioned.set(mentioned)
        queue_mentions(note, base_url=base_url, at=at)
    return note, unknown


def mentions(text: str, readers: Iterable[User]) -> tuple[list[User], list[str]]:
    """Return those of `readers` that `text` mentions by @username, in any case, and the other
    names.
    """
    by_name = {user.get_username().casefold(): user for user in readers}
    found: dict[int, User] = {}
    unknown: dict[str, None] = {}
    for name in _MENTION.findall(text):
        # a user name can end with a dot; a dot after one is more likely that of the sentence
        for each in (name, name.rstrip(".-+@")):
            if user := by_name.get(each.casefold()):
                found[user.pk] = user
                break
        else:
            unknown[name.rstrip(".-+@") or name] = None
    return list(found.values()), list(unknown)
