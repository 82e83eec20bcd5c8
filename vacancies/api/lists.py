"""What the lists of vacancies share in every version: who is in them, when they change, who may keep them."""

from datetime import datetime
from typing import ClassVar

from jobsite.api.permissions import is_protected
from jobsite.api.viewsets import ReadOnlyViewSet
from vacancies.models import Vacancy
from vacancies.querysets import VacancyQuerySet


class ListViewSet(ReadOnlyViewSet):
    """A list of published vacancies; `verbs`, of their queryset, make it this list."""

    verbs: ClassVar[tuple[str, ...]] = ("external",)

    def listed(self) -> VacancyQuerySet:
        return Vacancy.objects.published(at=self.now).that_are(*self.verbs).newest_first()

    def next_change(self) -> datetime | None:
        return Vacancy.objects.that_are(*self.verbs).next_change(after=self.now)

    def is_private(self) -> bool:
        return is_protected() and "internal" in self.verbs
