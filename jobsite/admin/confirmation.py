"""Pages that ask before an action: what they list, and the button that undoes the action afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.translation import gettext as _

SHOWN = 500  # rows of a section


@dataclass(frozen=True)
class Row:
    """A row of an action, its status, and notes: what is overwritten, or why it is not changed."""

    name: str
    notes: Sequence[Any] = ()
    state: Any = None


@dataclass(frozen=True)
class Section:
    """Rows of a confirmation page under a heading. `is_changed`: the action changes them."""

    heading: str
    rows: Sequence[Row]
    is_warning: bool = False
    is_changed: bool = True

    @property
    def shown(self) -> Sequence[Row]:
        return self.rows[:SHOWN]

    @property
    def more(self) -> int:
        return max(len(self.rows) - SHOWN, 0)


def with_undo(text: Any, url: str, back: str) -> str:
    """Return the text of a message with a button that posts to `url`, which redirects to `back`.

    The form is in templates/unfold/helpers/messages.html.
    """
    return format_html(
        '{} <button class="panel-button" type="submit" form="message-form" formaction="{}" name="back" '
        'value="{}">{}</button>',
        text,
        url,
        back,
        _("Undo"),
    )
