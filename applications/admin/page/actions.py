"""What a recruiter can do with the application of a page: the bar, and its menu. An action is a
function that returns None if the application or the permissions of the user do not allow it; it is
added to `BAR` or `MENU`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.urls import reverse
from django.utils.translation import gettext, pgettext

from applications.admin.moves.pages import stages
from applications.admin.page.erasure import may_erase
from applications.admin.parts import CHANGE, WRITE
from applications.admin.selection import ApplicationSelection
from applications.models import Application, Stage, StageChange
from jobsite.types import StrOrPromise, UserRequest


@dataclass(frozen=True)
class Opened:
    """An application on its page at `url`. `query` is repeated by the addresses that lead back."""

    request: UserRequest
    application: Application
    latest: StageChange | None
    url: str
    query: str

    def page(self, name: str) -> str:
        """Return the URL of the page `name` of the application."""
        url = reverse(f"admin:applications_application_{name}", args=[self.application.pk])
        return f"{url}{self.query}"

    @property
    def stage(self) -> Stage | None:
        return self.latest.stage if self.latest else None

    @property
    def may_change(self) -> bool:
        return self.request.user.has_perm(CHANGE)

    def other_stages(self) -> list[Stage]:
        return [each for each in stages(self.request) if each != self.stage]


@dataclass(frozen=True)
class PageAction:
    """A link, or a form that posts `fields`. `saves`: a script may post it in the background;
    `key`: does it too.
    """

    label: StrOrPromise
    icon: str
    url: str
    fields: dict[str, object] = field(default_factory=dict)
    key: str = ""
    is_form: bool = False
    is_main: bool = False
    is_danger: bool = False
    saves: str = ""


def bar_of(opened: Opened) -> list[PageAction]:
    return _made(opened, BAR)


def menu_of(opened: Opened) -> list[PageAction]:
    return _made(opened, MENU)


def _made(
    opened: Opened, makers: Sequence[Callable[[Opened], PageAction | None]]
) -> list[PageAction]:
    return [made for make in makers if (made := make(opened))]


# --- the bar ---


def move_to(opened: Opened, stage: Stage, label: str, icon: str, **values: object) -> PageAction:
    """Return the action that moves the application to `stage`, or asks about it before."""
    change = opened.latest.pk if opened.latest else None
    fields: dict[str, object] = {
        "applications": ApplicationSelection({opened.application.pk: change}),
        "back": opened.url,
        "stage": stage.pk,
    }
    return PageAction(
        f"{label}…" if stage.needs_confirmation else label,
        icon,
        reverse("admin:applications_application_move"),
        fields,
        is_form=True,
        saves="" if stage.needs_confirmation else "stage",
        **values,  # type: ignore[arg-type]
    )


def next_stage(opened: Opened) -> PageAction | None:
    """To the stage after the current one, that of an open or a hired application."""
    after = stages(opened.request)
    if opened.stage:
        if opened.stage.kind != Stage.Kind.OPEN:
            return None
        after = after[after.index(opened.stage) + 1 :]
    stage = next((each for each in after if each.kind in (Stage.Kind.OPEN, Stage.Kind.HIRED)), None)
    if stage is None or not opened.may_change:
        return None
    label = gettext("Next: %(stage)s") % {"stage": stage}
    return move_to(opened, stage, label, "arrow_forward", key="n", is_main=True)


def reject(opened: Opened) -> PageAction | None:
    rejected = (each for each in opened.other_stages() if each.kind == Stage.Kind.REJECTED)
    stage = next(rejected, None)
    if stage is None or not opened.may_change or _is(opened, Stage.Kind.REJECTED):
        return None
    return move_to(opened, stage, gettext("Reject"), "block", key="r")


def invite(opened: Opened) -> PageAction | None:
    if not opened.may_change:
        return None
    return PageAction(gettext("Invite"), "event", opened.page("interview"), key="i")


def write(opened: Opened) -> PageAction | None:
    if not (opened.application.address and opened.request.user.has_perm(WRITE)):
        return None
    return PageAction(pgettext("an act", "Email"), "mail", opened.page("email"), key="e")


# --- the menu ---


def hire(opened: Opened) -> PageAction | None:
    hired = (each for each in opened.other_stages() if each.kind == Stage.Kind.HIRED)
    stage = next(hired, None)
    if stage is None or not opened.may_change or _is(opened, Stage.Kind.HIRED):
        return None
    return move_to(opened, stage, gettext("Hire"), "handshake")


def consider(opened: Opened) -> PageAction | None:
    if not (opened.may_change and opened.application.is_spontaneous):
        return None
    label = gettext("Consider for a vacancy…")
    return PageAction(label, "forward", opened.page("consider"))


def mark_unread(opened: Opened) -> PageAction | None:
    if not opened.may_change:
        return None
    label, url = gettext("Mark as unread"), opened.page("unread")
    return PageAction(label, "mark_email_unread", url, is_form=True)


def access_log(opened: Opened) -> PageAction | None:
    if not opened.request.user.has_perm("applications.view_accesslog"):
        return None
    url = reverse("admin:applications_accesslog_changelist")
    query = f"?application={opened.application.pk}"
    return PageAction(gettext("Access log"), "policy", f"{url}{query}")


def erase(opened: Opened) -> PageAction | None:
    if not may_erase(opened.request.user):
        return None
    label, url = gettext("Erase this person…"), opened.page("erase")
    return PageAction(label, "person_remove", url, is_danger=True)


def _is(opened: Opened, kind: Stage.Kind) -> bool:
    return opened.stage is not None and opened.stage.kind == kind


BAR = (next_stage, reject, invite, write)
MENU = (hire, consider, mark_unread, access_log, erase)
