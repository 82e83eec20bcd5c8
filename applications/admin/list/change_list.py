"""The rows of the list of applications."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.views.main import PAGE_VAR, SEARCH_VAR
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import capfirst

from applications.access import sees_whole
from applications.admin.parts import LIST_QUERY
from applications.models import Application, SubmissionFile
from applications.querysets import folded_address
from applications.search import SIMILAR
from jobsite.admin.base import counted
from jobsite.admin.id_list import Cell, IdChangeList
from jobsite.db.folding import fold
from jobsite.db.similar_names import spelling
from jobsite.types import Context, UserRequest
from vacancies.search.rows import EXACT, scorer

NAMES = ("given_name", "family_name", "user__first_name", "user__last_name")
# What a row of the list shows, besides annotations.
LIST_FIELDS = (
    "user",
    "vacancy",
    "given_name",
    "family_name",
    "email",
    "created_at",
    "is_repeated",
    "rating",
    "read_at",
    "withdrawn_at",
    "user__username",
    "user__first_name",
    "user__last_name",
    "vacancy__title",
)


class ApplicationChangeList(IdChangeList):
    def scored(self, rows: QuerySet) -> Iterator[tuple[Any, ...]]:
        """By the name that the list shows. A reference or an address is exact."""
        query = self.query.strip().removeprefix(SIMILAR)
        spelt = spelling if getattr(self.queryset, "has_similar", False) else str
        score = scorer(spelt(fold(query)))
        reference, address = query.upper(), folded_address(query)
        columns = ("pk", "created_at", "reference", "email_folded", *NAMES)
        for pk, at, own, by, *names in rows.values_list(*columns):
            name = " ".join(names[:2]).strip() or " ".join(filter(None, names[2:]))
            yield EXACT if own == reference or by == address else score(spelt(fold(name))), at, pk

    def has_exact(self) -> bool:
        """Whether rows with the words themselves are shown, beside those with similar names."""
        return self.query.strip().startswith(SIMILAR)

    def similar_url(self) -> str:
        """Return the page with similar names too."""
        return self.get_query_string({SEARCH_VAR: SIMILAR + self.query}, [PAGE_VAR])

    def rows_of(self, request: UserRequest, pks: list[int]) -> list[Application]:
        files = counted(SubmissionFile.objects.all(), "submission__application")
        rows = self.model_admin.get_queryset(request)
        shown = (
            rows.select_related("user", "vacancy")
            .only(*LIST_FIELDS)
            .annotate(file_count=files)
            .in_bulk(pks)
        )
        if not sees_whole(request.user):
            for each in shown.values():
                each.read_at = each.created_at  # "new" is a mark of recruiters
        return [shown[pk] for pk in pks if pk in shown]

    def rows(self) -> Iterator[Context]:
        """Yield the rows for the template.
        Unfold takes a template and 700 bytes of classes per cell.
        """
        page = self.model_admin
        names = [
            name for name in self.list_display if name not in ("action_checkbox", "applicant_name")
        ]
        labels = {name: f"{capfirst(getattr(page, name).short_description)}:" for name in names}
        for row in self.result_list:
            yield {
                "checkbox": page.action_checkbox(row),
                "name": page.applicant_name(row),
                "url": self.url_of(row),
                "cells": [Cell(name, labels[name], getattr(page, name)(row)) for name in names],
            }

    def url_of(self, row: Application) -> str:
        url = reverse("admin:applications_application_change", args=[row.pk])
        return f"{url}?{self.preserved_filters or f'{LIST_QUERY}='}"
