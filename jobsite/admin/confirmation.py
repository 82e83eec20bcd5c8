"""Pages that ask before an action:
what they list, and the button that undoes the action afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import TextChoices
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from jobsite.admin.base import JobsiteAdmin, action_parameters
from jobsite.types import StrOrPromise

MAX_ROWS = 500  # rows of a section


@dataclass(frozen=True)
class ActionRow:
    """A row of an action, its status, and notes: what is overwritten, or why it is not changed."""

    name: str
    notes: Sequence[StrOrPromise] = ()
    state: TextChoices | None = None


@dataclass(frozen=True)
class ActionSection:
    """Rows of a confirmation page under a heading. `is_changed`: the action changes them."""

    heading: str
    rows: Sequence[ActionRow]
    is_warning: bool = False
    is_changed: bool = True

    @property
    def visible_rows(self) -> Sequence[ActionRow]:
        return self.rows[:MAX_ROWS]

    @property
    def more(self) -> int:
        return max(len(self.rows) - MAX_ROWS, 0)


def is_confirmed(request: HttpRequest) -> bool:
    """Return whether the page of `ask` posted the action of the changelist again."""
    return "confirmed" in request.POST


def ask(
    page: JobsiteAdmin, request: HttpRequest, *, label: str, icon: str, text: str, **context: object
) -> HttpResponse:
    """Return the page that asks before an action of the changelist.
    Its form posts the action again.
    """
    shared = {
        **page.admin_site.each_context(request),
        "opts": page.opts,
        "media": page.media,
        "title": label,
        "action": {"label": label, "icon": icon, "text": text},
        "repeated": action_parameters(request),
        "back": request.get_full_path(),
    }
    return TemplateResponse(request, "admin/confirm_action.html", shared | context)


def with_undo(text: StrOrPromise, url: str, back: str) -> str:
    """Return the text of a message with a button that posts to `url`, which redirects to `back`.

    The form is in templates/unfold/helpers/messages.html.
    """
    return format_html(
        '{} <button class="panel-button" type="submit" form="message-form" formaction="{}" '
        'name="back" '
        'value="{}">{}</button>',
        text,
        url,
        back,
        _("Undo"),
    )
