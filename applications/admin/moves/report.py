"""What a recruiter reads after a move: how many were moved and get an email, and who was not."""

from collections.abc import Collection, Iterator, Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext

from applications.models import Application, Stage
from applications.operations import Moved
from jobsite.admin.confirmation import with_undo
from jobsite.text.formats import format_datetime

MAX_NAMES = 10  # names in a message


def report(
    moved: Moved, stage: Stage, filled: Collection[str], back: str
) -> Iterator[tuple[int, str]]:
    """Yield the messages about a move to `stage`, with their levels. `filled` are those about
    vacancies that it filled. *Undo* leads to `back`.
    """
    if count := len(moved.changes):
        text = ngettext("%(count)d moved to %(stage)s.", "%(count)d moved to %(stage)s.", count)
        if name := name_of(moved.applications):
            text = gettext("%(name)s moved to %(stage)s.")
        done = text % {"count": count, "stage": stage, "name": name}
        url = undo_url(moved, stage)
        yield messages.SUCCESS, with_undo(done, url, back) if url else done
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


def name_of(pks: Sequence[int]) -> str:
    """Return the name of the applicant of the one application among `pks`, "" for many."""
    if len(pks) != 1:
        return ""
    return Application.objects.select_related("user").get(pk=pks[0]).display_name


def undo_url(moved: Moved, stage: Stage, back: str = "") -> str:
    """Return the page that undoes the move and leads to `back`, "" if applicants see the move at
    once. It finds the changes by their times: one, unless the previous change of some is later
    (`move`).
    """
    times = sorted({change.at.isoformat() for change in moved.changes})
    if not times or not stage.embargo_days:
        return ""
    query = urlencode([*(("at", each) for each in times), *([("back", back)] if back else [])])
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
