"""The rows that a bulk action is about. Pages send them along by id, so that a confirmation affects
exactly those that it named; and with the version that the user saw, so that a change by somebody
else is noticed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Self

from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

_SENT = re.compile(r"[0-9]{1,18}:[0-9]{0,18}(,[0-9]{1,18}:[0-9]{0,18})*")


@dataclass
class Selection:
    """Rows by id, with a number that changes when the row does, or None without one. Subclasses
    name their parameter and create a selection of rows.
    """

    parameter: ClassVar[str]

    seen: dict[int, int | None] = field(default_factory=dict)

    @classmethod
    def sent_by(cls, request: HttpRequest, own: QuerySet) -> Self:
        """Return the rows in the request that are among the user's `own`. Raise BadRequest if it
        names none.
        """
        text = request.POST.get(cls.parameter, "")
        if not _SENT.fullmatch(text):
            raise BadRequest(f"{cls.parameter} is not a list of id:change.")
        sent = {int(pk): int(change) if change else None for pk, change in _pairs(text)}
        there = set(own.filter(pk__in=list(sent)).order_by().values_list("pk", flat=True))
        return cls({pk: change for pk, change in sent.items() if pk in there})

    def __str__(self) -> str:
        return ",".join(f"{pk}:{change or ''}" for pk, change in self.seen.items())

    def __len__(self) -> int:
        return len(self.seen)


def _pairs(text: str) -> Iterator[list[str]]:
    return (pair.split(":") for pair in text.split(","))


def way_back(request: HttpRequest, default: str, name: str = "back") -> str:
    """Return the page that the action was started from, such as a list with its filters, as the
    parameter `name` says; `default`, of which it is a part, if the request names another one.
    """
    path = request.POST.get(name) or request.GET.get(name, "")
    is_ours = path.startswith(default) and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_ours else default
