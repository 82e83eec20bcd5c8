"""The board: applications by stage. Everything works with forms; a script adds drag and drop."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext
from unfold.contrib.filters.forms import AutocompleteDropdownForm

from applications.access import sees_whole
from applications.admin.moves.pages import stages
from applications.admin.parts import LIST_QUERY
from applications.admin.selection import NAMES, ApplicationSelection
from applications.models import Application, Stage
from applications.querysets import ApplicationQuerySet
from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.form_renderer import escaped
from jobsite.types import JsonObject, UserRequest
from vacancies.models import Vacancy

MAX_CARDS = 20  # per column; the list has the others


@dataclass
class Column:
    stage: Stage
    needs_confirmation: bool
    list_url: str
    count: int
    cards: list[str] = field(default_factory=list)


class BoardPages(AdminPages):
    def urls(self) -> list[URLPattern]:
        return [self.url("board/", self.board_view, "board")]

    def board_view(self, request: UserRequest) -> HttpResponse:
        """Show the newest applications of each stage, of one vacancy or of all."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        if not sees_whole(request.user):  # the cards have ratings
            return redirect("admin:applications_application_yours")
        own = Vacancy.objects.only("title").reachable_by(request.user)
        chosen = as_id(request.GET.get("vacancy__id__exact"))
        vacancy = own.filter(pk=chosen).first() if chosen is not None else None
        rows: ApplicationQuerySet = self.admin.get_queryset(request)
        if vacancy:
            rows = rows.filter(vacancy=vacancy)
        head, fieldsets = self._head(request, vacancy)
        form = None if head else self._filter_form(request, own, vacancy)
        may_move = self.admin.has_change_permission(request)
        cards = Cards(request, names_vacancy=vacancy is None, may_move=may_move)
        counts = head["candidates"]["by_stage"] if head else rows.counts_by_stage()
        found = columns(request, rows, vacancy, cards, counts)
        title = (
            gettext("Board: %(vacancy)s") % {"vacancy": vacancy} if vacancy else gettext("Board")
        )
        context = {
            **self.context(request, title),
            "media": self.admin.media + form.media if form else self.admin.media,
            "vacancy": vacancy,
            "form": form,
            "head": head,
            **({"original": vacancy} if head else {}),
            "fieldsets": fieldsets,
            "columns": found,
        }
        return TemplateResponse(request, "admin/applications/application/list/board.html", context)

    def _head(
        self, request: UserRequest, vacancy: Vacancy | None
    ) -> tuple[JsonObject | None, list[str]]:
        """Return the head of the pages of `vacancy`, and the parts of its form, if the user may
        view it.
        """
        pages = self.admin.admin_site._registry[Vacancy]
        if vacancy is None or not pages.has_view_permission(request):
            return None, []
        row = pages.get_queryset(request).filter(pk=vacancy.pk).first()
        if row is None:
            return None, []
        names = [name for name, _spec in pages.get_fieldsets(request, vacancy)]
        return pages.head_of(request, row), names

    def _filter_form(self, request: UserRequest, own: QuerySet, vacancy: Vacancy | None) -> Any:
        """Return the form that chooses one of the vacancies `own`."""
        form = AutocompleteDropdownForm(
            request=request,
            name="vacancy__id__exact",
            label=gettext("Vacancy"),
            choices=(),
            field=Application._meta.get_field("vacancy"),
            model_admin=self.admin,
            data={"vacancy__id__exact": vacancy.pk if vacancy else None},
        )
        form.fields["vacancy__id__exact"].queryset = own
        return form


class Cards:
    """Makes the cards of a board, without a template: there can be 20 for each stage."""

    def __init__(self, request: UserRequest, *, names_vacancy: bool, may_move: bool) -> None:
        self.now = timezone.now()
        self.names_vacancy = names_vacancy
        self.url = reverse("admin:applications_application_change", args=[0])
        self.texts = {
            "age": gettext("%(age)s ago"),
            "rating": gettext("rated %(rating)s/5"),
            "move": gettext("Move %(name)s to"),
        }
        marks = {
            "is-new": gettext("New"),
            "is-repeated": gettext("Applied again"),
            "is-withdrawn": gettext("Withdrawn"),
        }
        self.marks = [
            format_html('<span class="panel-state {}">{}</span>', *mark) for mark in marks.items()
        ]
        # The same for each card.
        self.menu_of = ""
        if may_move:
            buttons = format_html_join(
                "",
                '<button type="submit" name="stage" value="{}">{}{}</button>',
                (
                    (each.pk, each, "…" if each.needs_confirmation else "")
                    for each in stages(request)
                ),
            )
            self.menu_of = format_html(
                '<form method="post" action="{}" class="board-move">'
                '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
                '<input type="hidden" name="back" value="{}">{}',
                reverse("admin:applications_application_move"),
                get_token(request),
                request.get_full_path(),
                buttons,
            )

    def html(self, application: Application, column: str) -> str:
        """Return the card; its link has the query `column`. `format_html` for each of its parts
        would take five times as long.
        """
        name = escaped(application.display_name)
        age = timesince(application.created_at, self.now, depth=1)
        facts = [escaped(self.texts["age"] % {"age": age})]
        if self.names_vacancy:
            title = escaped(application.vacancy.title)
            query = f"?vacancy__id__exact={application.vacancy_id}"
            facts.insert(0, f'<a class="text-link" href="{query}">{title}</a>')
        if application.rating:
            facts.append(escaped(self.texts["rating"] % {"rating": application.rating}))
        applies = (application.read_at is None, application.is_repeated, application.withdrawn_at)
        marks = "".join(
            mark for mark, is_marked in zip(self.marks, applies, strict=True) if is_marked
        )
        drag = ' draggable="true"' if self.menu_of else ""
        row = f'<p class="panel-row">{marks}</p>' if marks else ""
        menu = self._menu(application) if self.menu_of else ""
        url = self.url.replace("/0/", f"/{application.pk}/")
        return SafeString(
            f'<li class="board-card" data-card data-name="{name}"{drag}>'
            f'<a class="board-name" href="{url}{column}">{name}</a>'
            f'<p class="board-facts">{" · ".join(facts)}</p>{row}{menu}</li>'
        )

    def _menu(self, application: Any) -> str:
        label = escaped(self.texts["move"] % {"name": application.display_name})
        selection = ApplicationSelection({application.pk: application.change_id})
        return (
            f'<details class="panel-menu board-menu"><summary aria-label="{label}">'
            '<span class="material-symbols-outlined" aria-hidden="true">more_horiz</span></summary>'
            f'{self.menu_of}<input type="hidden" name="applications" value="{escaped(selection)}">'
            "</form></details>"
        )


def columns(
    request: UserRequest, rows: Any, vacancy: Vacancy | None, cards: Cards, counts: dict[Any, int]
) -> list[Column]:
    """Return a column per stage. One query finds the newest applications of each stage, and one
    reads their cards.
    """
    url = reverse("admin:applications_application_changelist")
    query = {"vacancy__id__exact": vacancy.pk} if vacancy else {}
    found = {
        stage.pk: Column(
            stage,
            stage.needs_confirmation,
            f"{url}?{urlencode(query | {'stage': stage.pk})}",
            counts.get(stage.pk, 0),
        )
        for stage in stages(request)
    }
    shown: dict[int, list[int]] = {pk: [] for pk in found}
    newest_first = (F("created_at").desc(), F("pk").desc())
    place = Window(RowNumber(), partition_by=F("stage_id"), order_by=newest_first)
    newest = rows.order_by().annotate(place=place).filter(place__lte=MAX_CARDS).order_by("place")
    for pk, stage in newest.values_list("pk", "stage_id"):
        if stage in found:
            shown[stage].append(pk)
    pks = [pk for of_stage in shown.values() for pk in of_stage]
    named = (
        Application.objects.filter(pk__in=pks)
        .with_latest_change()
        .select_related("user", "vacancy")
    )
    fields = ("user", "vacancy", "created_at", "rating", "read_at", "is_repeated", *NAMES)
    by_pk = named.only(*fields).in_bulk()
    for stage, of_stage in shown.items():
        link = f"?{urlencode({LIST_QUERY: found[stage].list_url.partition('?')[2]})}"
        found[stage].cards = [cards.html(by_pk[pk], link) for pk in of_stage if pk in by_pk]
    return list(found.values())
