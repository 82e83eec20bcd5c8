"""What a recruiter reads after a move: how many were moved and get an email, and who was not."""

from collections.abc import Collection, Iterator, Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext

from applications.models import Application, Stage
from applications.operations import Moved
from jobsite.text.formats import format_datetime

MAX_NAMES = 10  # names in a message


def report(moved: Moved, stage: Stage, filled: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the messages about a move to `stage`, with their levels. `filled` are those about
    vacancies that it filled.
    """
    if count := len(moved.changes):
        text = ngettext("%(count)d moved to %(stage)s.", "%(count)d moved to %(stage)s.", count)
        done = text % {"count": count, "stage": stage}
        if url := undo_url(moved, stage):
            link = format_html('<a class="text-link" href="{}">{}</a>', url, gettext("Undo"))
            done = format_html("{} {}", done, link)
        yield messages.SUCCESS, done
    if count := len(moved.emails):
        text = ngettext(
            "%(count)d email is sent on %(time)s.", "%(count)d emails are sent on %(time)s.", count
        )
        time = format_datetime(min(email.queued_at for email in moved.emails))
        yield messages.SUCCESS, text % {"count": count, "time": time}
    for text in filled:
        yield messages.SUCCESS, text
    yield from _not_moved(moved, stage)


def _not_moved(moved: Moved, stage: Stage) -> Iterator[tuple[int, str]]:
    if count := len(moved.there):
        text = ngettext(
            "%(count)d was already in %(stage)s.", "%(count)d were already in %(stage)s.", count
        )
        yield messages.WARNING, text % {"count": count, "stage": stage}
    if moved.elsewhere:
        text = ngettext(
            "%(count)d was not moved: somebody else moved it in the meantime. %(links)s",
            "%(count)d were not moved: somebody else moved them in the meantime. %(links)s",
            len(moved.elsewhere),
        )
        yield messages.ERROR, with_links(text, moved.elsewhere)


def undo_url(moved: Moved, stage: Stage) -> str:
    """Return the page that undoes the move, "" if applicants see it at once. It finds the changes
    by their times: one, unless the previous change of some is later (`move`).
    """
    times = sorted({change.at.isoformat() for change in moved.changes})
    if not times or not stage.embargo_days:
        return ""
    query = urlencode([("at", each) for each in times])
    return f"{reverse('admin:applications_application_undo_moves')}?{query}"


def with_links(text: str, pks: Sequence[int]) -> str:
    """Return a translated `text` with the number of applications and links to them."""
    return format_html(
        text.replace("%(count)d", "{}").replace("%(links)s", "{}"), len(pks), links(pks)
    )


def links(pks: Sequence[int]) -> str:
    """Return links to the first of the applications, and how many there are more. A message is in
    a cookie or a session, which ends within hours, until a page shows it.
    """
    rows = Application.objects.select_related("user").filter(pk__in=pks[:MAX_NAMES])
    shown = [
        (reverse("admin:applications_application_change", args=[row.pk]), row.display_name)
        for row in rows
    ]
    found = format_html_join(", ", '<a class="text-link" href="{}">{}</a>', shown)
    more = len(pks) - len(shown)
    return (
        format_html("{}, {}", found, gettext("and %(count)d more") % {"count": more})
        if more
        else found
    )
