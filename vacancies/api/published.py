"""The published vacancy that the path of a request names."""

import re
from datetime import datetime

from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from jobsite.api.permissions import is_insider, is_protected
from vacancies.models import Vacancy
from vacancies.querysets import VacancyQuerySet

ID = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
NO_SUCH_VACANCY = "No published vacancy has this id."


def find_published(
    request: Request, pk: str, vacancies: VacancyQuerySet, *, at: datetime
) -> Vacancy:
    """Return the vacancy `pk` if it is published at `at` and open to the client of `request`.

    A hidden one and an unknown one raise the same NotFound, after the same queries.
    """
    if not ID.fullmatch(pk):
        raise NotFound(NO_SUCH_VACANCY)
    published = vacancies.published(at=at).filter(pk=pk)
    found = list(published.external() if is_protected() else published)
    if not found and is_protected() and is_insider(request):
        found = list(published.internal())
    if not found:
        raise NotFound(NO_SUCH_VACANCY)
    return found[0]
