"""What a recruiter can do with the application of a page: the bar, and its menu. An action is a
function that returns None if the application does not allow it; it is added to `BAR` or `MENU`
with the permission that it needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext, pgettext

from applications.admin.candidates.erasure import ERASE, may_erase
from applications.admin.moves.pages import stages
from applications.admin.parts import CHANGE, WRITE
from applications.admin.selection import ApplicationSelection
from applications.models import Application, Stage, StageChange
from jobsite.types import StrOrPromise, UserRequest

Kind = Stage.Kind


@dataclass(frozen=True)
class Opened:
    """An application on its page at `url`. `query` is repeated by the addresses that lead back.
    `after` is the page after it in the list that the user reads, or its own.
    """

    request: UserRequest
    application: Application
    latest: StageChange | None
    url: str
    query: str
    after: str

    def page(self, name: str) -> str:
        """Return the URL of the page `name` of the application."""
        url = reverse(f"admin:applications_application_{name}", args=[self.application.pk])
        return f"{url}{self.query}"

    @property
    def stage(self) -> Stage | None:
        return self.latest.stage if self.latest else None

    @property
    def other_stages(self) -> list[Stage]:
        return [each for each in stages(self.request) if each != self.stage]

    @property
    def move_fields(self) -> dict[str, object]:
        """What the form of a move posts beside the stage."""
        latest = self.latest.pk if self.latest else None
        selection = ApplicationSelection({self.application.pk: latest})
        return {"applications": selection, "back": self.url, "after": self.after}


@dataclass(frozen=True)
class PageAction:
    """A link or, with `fields`, a form that posts them. `key` does it too. `saves` is what
    walking.js saves without loading the page. One that `asks` first does so in a dialog.
    """

    label: StrOrPromise
    icon: str
    url: str
    fields: dict[str, object] | None = None
    key: str = ""
    is_main: bool = False
    is_danger: bool = False
    saves: str = ""
    asks: bool = False


Makers = Sequence[tuple[str, Callable[[Opened], PageAction | None]]]


def actions(opened: Opened, makers: Makers) -> list[PageAction]:
    """Return the actions of `makers` that the user may do."""
    may = opened.request.user.has_perm
    return [made for permission, make in makers if may(permission) and (made := make(opened))]


def move_to(
    opened: Opened, stage: Stage, label: str, icon: str, key: str = "", *, is_main: bool = False
) -> PageAction:
    """Return the action that moves the application to `stage`, or asks about it before."""
    asks = stage.needs_confirmation
    return PageAction(
        f"{label}…" if asks else label,
        icon,
        reverse("admin:applications_application_move"),
        opened.move_fields | {"stage": stage.pk},
        key,
        is_main=is_main,
        saves="" if asks else "stage",
        asks=asks,
    )


def next_stage(opened: Opened) -> PageAction | None:
    """To the stage after the current one, that of an open or a hired application."""
    after = stages(opened.request)
    if opened.stage:
        after = after[after.index(opened.stage) + 1 :] if opened.stage.kind == Kind.OPEN else []
    stage = next((each for each in after if each.kind in (Kind.OPEN, Kind.HIRED)), None)
    if stage is None:
        return None
    label = gettext("Next: %(stage)s") % {"stage": stage}
    return move_to(opened, stage, label, "arrow_forward", "n", is_main=True)


def reject(opened: Opened) -> PageAction | None:
    return _decide(opened, Kind.REJECTED, gettext("Reject"), "block", "r")


def hire(opened: Opened) -> PageAction | None:
    return _decide(opened, Kind.HIRED, gettext("Hire"), "handshake")


def _decide(
    opened: Opened, kind: Stage.Kind, label: str, icon: str, key: str = ""
) -> PageAction | None:
    if opened.stage and opened.stage.kind == kind:
        return None
    stage = next((each for each in opened.other_stages if each.kind == kind), None)
    return move_to(opened, stage, label, icon, key) if stage else None


def invite(opened: Opened) -> PageAction:
    return PageAction(gettext("Invite"), "event", opened.page("interview"), key="i")


def write(opened: Opened) -> PageAction | None:
    if not opened.application.address:
        return None
    return PageAction(pgettext("an act", "Email"), "mail", opened.page("email"), key="e")


def consider(opened: Opened) -> PageAction:
    return PageAction(gettext("Consider for a vacancy…"), "forward", opened.page("consider"))


def other_vacancy(opened: Opened) -> PageAction:
    return PageAction(gettext("Move to another vacancy…"), "move_item", opened.page("vacancy"))


def ask_for_pool(opened: Opened) -> PageAction | None:
    if not opened.application.address:
        return None
    return PageAction(gettext("Ask for the talent pool…"), "group_add", opened.page("pool"))


def mark_unread(opened: Opened) -> PageAction:
    return PageAction(gettext("Mark as unread"), "mark_email_unread", opened.page("unread"), {})


def access_log(opened: Opened) -> PageAction:
    url = reverse("admin:applications_accesslog_changelist")
    return PageAction(gettext("Access log"), "policy", f"{url}?application={opened.application.pk}")


def erase(opened: Opened) -> PageAction | None:
    if not may_erase(opened.request.user):
        return None
    label, url = gettext("Erase this person…"), opened.page("erase")
    return PageAction(label, "person_remove", url, is_danger=True)


BAR: Makers = ((CHANGE, next_stage), (CHANGE, reject), (CHANGE, invite), (WRITE, write))
MENU: Makers = (
    (CHANGE, hire),
    (CHANGE, consider),
    (CHANGE, other_vacancy),
    (CHANGE, ask_for_pool),
    (CHANGE, mark_unread),
    ("applications.view_accesslog", access_log),
    (ERASE, erase),
)
