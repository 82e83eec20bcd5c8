"""django-filter, with errors that state the parameter, the received value and the allowed values."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from jobsite.api.parameters import refusal
from jobsite.api.problems import InvalidParameters


class FilterSet(django_filters.FilterSet):
    """A filter set over the view's parameters. The `help_text` of a filter states the allowed values."""

    def check(self) -> None:
        """Raise InvalidParameters if a value is blank or not allowed."""
        wrong = {name for name in self.data if name in self.filters and not self.data[name].strip()}
        wrong |= set(self.errors)
        if wrong:
            raise InvalidParameters(
                [
                    refusal(name, self.data[name], self.filters[name].extra["help_text"])
                    for name in sorted(wrong)
                ]
            )


class FilterBackend(BaseFilterBackend):
    """Filters a list by the view's `filterset_class`."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: Any) -> QuerySet:
        filterset = view.filterset_class(view.query, queryset=queryset, request=request)
        filterset.check()
        return filterset.qs
