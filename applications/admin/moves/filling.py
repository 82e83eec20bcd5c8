"""What a recruiter is offered with the last hire of a vacancy: to mark it as filled, to unpublish
it, and to write to the others. Nothing is done without being asked for.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext

from applications.admin.parts import WRITE
from applications.models import Application, Stage
from applications.querysets import ApplicationQuerySet
from jobsite.types import UserRequest
from vacancies.admin.edit.requisition import CHANGE, log_fields
from vacancies.choices import State
from vacancies.models import Requisition, Vacancy

MESSAGES = 5  # at a time


def filled_by(applications: Collection[int], stage: Stage, *, user: User) -> list[Vacancy]:
    """Return the vacancies of which no position is left once `applications` are in `stage`, and
    that are not marked as filled yet; none if `user` may not mark them.
    """
    if stage.kind != Stage.Kind.HIRED or not user.has_perm(CHANGE):
        return []
    named = Application.objects.filter(pk__in=applications).order_by()
    hired: dict[int, set[int]] = {}
    for pk, vacancy in named.values_list("pk", "vacancy"):
        hired.setdefault(vacancy, set()).add(pk)
    there: Any = Application.objects.filter(vacancy__in=list(hired)).order_by().with_stage()
    kind = Stage.objects.filter(kind=Stage.Kind.HIRED).values("pk")
    for pk, vacancy in there.filter(stage_id__in=kind).values_list("pk", "vacancy"):
        hired[vacancy].add(pk)
    rows = Vacancy.objects.filter(pk__in=list(hired)).without_texts().select_related("requisition")
    return [
        vacancy
        for vacancy in rows.order_by("pk")
        if _is_filled_with(vacancy, len(hired[vacancy.pk]))
    ]


def _is_filled_with(vacancy: Vacancy, people: int) -> bool:
    row = Requisition.of(vacancy)
    return row.filled_at is None and not row.is_for_open_applications and people >= row.positions


def report_filled(
    request: UserRequest, moved: Collection[int], stage: Stage, *, is_marked: bool, at: datetime
) -> list[str]:
    """Mark the vacancies that `moved` filled, if that is wanted.
    Return a message about each of them.
    """
    filled = filled_by(moved, stage, user=request.user)
    for vacancy in filled if is_marked else ():
        Requisition.objects.update_or_create(
            vacancy=vacancy, defaults={"filled_at": at, "updated_at": at}
        )
        log_fields(request.user, vacancy, ["is_filled"])
    return [_next_steps(request, vacancy, is_marked=is_marked) for vacancy in filled[:MESSAGES]]


def undecided(applications: Any, vacancy: int) -> ApplicationQuerySet:
    """Return those of `applications` to `vacancy` whose applicants still wait."""
    waiting = Stage.objects.filter(kind=Stage.Kind.OPEN).values("pk")
    rows = applications.filter(vacancy=vacancy, withdrawn_at=None)
    return rows.with_stage().filter(stage_id__in=waiting)


def _next_steps(request: UserRequest, vacancy: Vacancy, *, is_marked: bool) -> str:
    """Return a message with what a recruiter may want to do now."""
    links = []
    may_change = request.user.has_perm("vacancies.change_vacancy")
    if may_change and vacancy.state in (State.PUBLISHED, State.SCHEDULED):
        url = reverse("admin:vacancies_vacancy_unpublish", args=[vacancy.pk])
        links.append((url, gettext("Unpublish…")))
    count = undecided(Application.objects.all(), vacancy.pk).count()
    if count and request.user.has_perm(WRITE):
        url = f"{reverse('admin:applications_application_others')}?{urlencode({'vacancy': vacancy.pk})}"
        text = ngettext("Write to the other one…", "Write to the %(count)d others…", count)
        links.append((url, text % {"count": count}))
    text = (
        gettext("“%(vacancy)s” is marked as filled.")
        if is_marked
        else gettext("Every position of “%(vacancy)s” is filled.")
    )
    shown = format_html_join("", ' <a class="text-link" href="{}">{}</a>', links)
    return format_html("{}{}", text % {"vacancy": vacancy}, shown)
