"""The applications that a bulk action is about. Pages send them along by id, so that a confirmation affects
exactly those that it named; and with the stage change that the user saw, so that a move by somebody else is
noticed."""

import re
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from applications.models import Application
from applications.querysets import ApplicationQuerySet

NAMES = (
    "given_name", "family_name", "email", "withdrawn_at", "language", "reference",
    "user__username", "user__first_name", "user__last_name", "user__email", "vacancy__title",
)  # fmt: skip
_SENT = re.compile(r"[0-9]{1,18}:[0-9]{0,18}(,[0-9]{1,18}:[0-9]{0,18})*")


@dataclass
class Selection:
    """Applications by id, with the id of their latest stage change, or None without one."""

    seen: dict[int, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, applications: Any) -> "Selection":
        rows = applications.order_by().with_latest_change().values_list("pk", "change_id")
        return cls(dict(rows))

    @classmethod
    def sent_by(cls, request: HttpRequest, own: Any) -> "Selection":
        """Return the applications in the request that are among the user's `own`. Raise BadRequest if it
        names none."""
        text = request.POST.get("applications", "")
        if not _SENT.fullmatch(text):
            raise BadRequest("applications is not a list of id:change.")
        sent = {int(pk): int(change) if change else None for pk, change in _pairs(text)}
        there = set(own.filter(pk__in=list(sent)).order_by().values_list("pk", flat=True))
        return cls({pk: change for pk, change in sent.items() if pk in there})

    def __str__(self) -> str:
        return ",".join(f"{pk}:{change or ''}" for pk, change in self.seen.items())

    def __len__(self) -> int:
        return len(self.seen)

    def rows(self) -> ApplicationQuerySet:
        return Application.objects.filter(pk__in=list(self.seen))

    def people(self) -> Any:
        """Return the applications with what names them, and with their stage, the newest first."""
        named: Any = self.rows().with_stage().select_related("user", "vacancy")
        return named.only("user", "vacancy", *NAMES).newest_first()


def _pairs(text: str) -> Any:
    return (pair.split(":") for pair in text.split(","))


def way_back(request: HttpRequest, default: str) -> str:
    """Return the page that the action was started from: the list or the board, with its filters."""
    path = request.POST.get("back", "")
    is_ours = path.startswith(default) and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_ours else default
