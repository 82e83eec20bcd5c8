"""The board: applications by stage. Everything works with forms; a script adds drag and drop."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.timesince import timesince
from django.utils.translation import gettext
from unfold.contrib.filters.forms import AutocompleteDropdownForm

from applications.admin.brand_access import BrandScopedNoAddAdmin
from applications.admin.bulk_move import stages
from applications.admin.selection import NAMES, ApplicationSelection
from applications.models import Application, Stage
from jobsite.admin.base import as_id
from jobsite.types import UserRequest
from vacancies.access import scope_to_brands
from vacancies.models import Vacancy

MAX_CARDS = 20  # per column; the list has the others


@dataclass
class Column:
    stage: Stage
    needs_confirmation: bool
    list_url: str
    count: int = 0
    cards: list[dict[str, object]] = field(default_factory=list)


class BoardAdmin(BrandScopedNoAddAdmin):
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.board_view)
        return [path("board/", view, name="applications_application_board"), *super().get_urls()]

    def board_view(self, request: UserRequest) -> HttpResponse:
        """Show the newest applications of each stage, of one vacancy or of all."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        own = scope_to_brands(request.user, Vacancy.objects.only("title"), "pk")
        chosen = as_id(request.GET.get("vacancy__id__exact"))
        vacancy = own.filter(pk=chosen).first() if chosen is not None else None
        rows: QuerySet = self.get_queryset(request)
        if vacancy:
            rows = rows.filter(vacancy=vacancy)
        form = AutocompleteDropdownForm(
            request=request, name="vacancy__id__exact", label=gettext("Vacancy"), choices=(),
            field=Application._meta.get_field("vacancy"), model_admin=self,
            data={"vacancy__id__exact": vacancy.pk if vacancy else None},
        )  # fmt: skip
        form.fields["vacancy__id__exact"].queryset = own
        found = columns(request, rows, vacancy)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "media": self.media + form.media,
            "title": gettext("Board: %(vacancy)s") % {"vacancy": vacancy} if vacancy else gettext("Board"),
            "vacancy": vacancy,
            "form": form,
            "columns": found,
            "has_cards": any(column.count for column in found),
            # the same for every card, so made once
            "options": format_html_join(
                "", '<option value="{}">{}</option>', ((each.pk, each) for each in stages(request))
            ),
            "may_move": self.has_change_permission(request),
            "back": request.get_full_path(),
        }
        return TemplateResponse(request, "admin/applications/application/board.html", context)


def columns(request: UserRequest, rows: Any, vacancy: Vacancy | None) -> list[Column]:
    """Return a column per stage. One query counts the applications, one finds the newest ones of each stage,
    and one reads their cards."""
    url = reverse("admin:applications_application_changelist")
    query = {"vacancy__id__exact": vacancy.pk} if vacancy else {}
    found = {
        stage.pk: Column(stage, stage.needs_confirmation, f"{url}?{urlencode(query | {'stage': stage.pk})}")
        for stage in stages(request)
    }
    shown: dict[int, list[int]] = {pk: [] for pk in found}
    rows = rows.order_by()
    for stage, count in rows.values("stage_id").annotate(count=Count("pk")).values_list("stage_id", "count"):
        if stage in found:
            found[stage].count = count
    newest_first = (F("created_at").desc(), F("pk").desc())
    place = Window(RowNumber(), partition_by=F("stage_id"), order_by=newest_first)
    newest = rows.annotate(place=place).filter(place__lte=MAX_CARDS).order_by("place")
    for pk, stage in newest.values_list("pk", "stage_id"):
        if stage in found:
            shown[stage].append(pk)
    pks = [pk for of_stage in shown.values() for pk in of_stage]
    cards = Application.objects.filter(pk__in=pks).with_latest_change().select_related("user", "vacancy")
    fields = ("user", "vacancy", "created_at", "rating", "read_at", "is_repeated", *NAMES)
    by_pk = cards.only(*fields).in_bulk()
    now = timezone.now()
    for stage, of_stage in shown.items():
        found[stage].cards = [card(by_pk[pk], now) for pk in of_stage if pk in by_pk]
    return list(found.values())


def card(application: Application, now: datetime) -> dict[str, object]:
    return {
        "application": application,
        "selection": ApplicationSelection({application.pk: application.change_id}),
        "age": timesince(application.created_at, now, depth=1),
    }
