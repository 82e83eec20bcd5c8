"""Keeps the unsaved input of the form of a vacancy on the server, restores it, and shows who else
has the form open. The browser's part is vacancies/static/vacancies/autosave.js.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.admin.edit.conflict import (
    Conflict,
    authors_since,
    conflict_page,
    merge_input,
    merged_note,
    names,
    version_of,
)
from vacancies.admin.edit.form_input import FILES, Input, chosen_files, post_data
from vacancies.models import Autosave, Presence, Vacancy, settled_pages

INPUT_MAX = 1_000_000  # characters of one input
NEW = 0  # in URLs, for a vacancy that does not exist yet
_KEY = re.compile(r"[a-z0-9]{1,32}")


def time_of(at: datetime, *, now: datetime) -> str:
    """Return the time of day of `at`, with the date if it is not today."""
    local, today = (timezone.localtime(each, timezone.get_default_timezone()) for each in (at, now))
    return date_format(local, "H:i") if local.date() == today.date() else format_datetime(at)


def key_of(value: str) -> str:
    """Return the key of a page or window, "" if it is not valid."""
    return value if _KEY.fullmatch(value) else ""


def form_url(vacancy: Vacancy | None) -> str:
    if vacancy is None:
        return reverse("admin:vacancies_vacancy_add")
    return reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])


class AutosavePages(AdminPages):
    """The requests of autosave.js, and the button that discards the unsaved input."""

    def urls(self) -> list[URLPattern]:
        return [
            self.url("<path:object_id>/autosave/", self.autosave_view, "autosave"),
            self.url("<path:object_id>/discard/", self.discard_view, "discard"),
        ]

    def _edited_or_404(self, request: UserRequest, object_id: str) -> Vacancy | None:
        """Return the vacancy that the user may change, None for a new one."""
        if request.method != "POST":
            raise Http404
        pk = as_id(object_id)
        if pk == NEW:
            if not self.admin.has_add_permission(request):
                raise PermissionDenied
            return None
        vacancy = self.admin.get_queryset(request).filter(pk=pk).first() if pk else None
        if vacancy is None:
            raise Http404
        if not self.admin.has_change_permission(request, vacancy):
            raise PermissionDenied
        return vacancy

    def autosave_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Store the posted form, if it is one, and record that the user has it open.
        Return who else has.
        """
        vacancy = self._edited_or_404(request, object_id)
        self.admin.check_ids(request, request.POST)
        own = str(request.user.pk)
        if request.POST.get("_user", own) != own:  # another user signed in, in another tab
            text = _("You are signed in as %(user)s now.") % {"user": person(request.user)}
            return JsonResponse({"error": text}, status=409)
        pk, now = vacancy.pk if vacancy else None, timezone.now()
        page, window = (key_of(request.POST.get(name, "")) for name in ("page", "_window"))
        if page and "_unchanged" in request.POST:
            Autosave.objects.of(request.user, pk).filter(page=page, data__isnull=False).delete()
        elif page:
            data = post_data(request.POST)
            if len(json.dumps(data)) > INPUT_MAX:
                return JsonResponse(
                    {"error": _("This is too long to be kept on the server.")}, status=413
                )
            Autosave.objects.store(user=request.user, vacancy=pk, page=page, data=data, at=now)
        if vacancy is None or not window:
            return JsonResponse({"notices": []})
        if "_closed" in request.POST:
            Presence.objects.filter(user=request.user.pk, vacancy=pk, window=window).delete()
            return JsonResponse({"notices": []})
        Presence.objects.report(user=request.user, vacancy=vacancy.pk, window=window, at=now)
        return JsonResponse({"notices": self._notices(request, vacancy, window, now)})

    def _notices(
        self, request: UserRequest, vacancy: Vacancy, window: str, now: datetime
    ) -> list[str]:
        others: dict[Any, Any] = {}
        for row in Presence.objects.others(
            user=request.user, vacancy=vacancy.pk, window=window, at=now
        ):
            others.setdefault(row.user_id, row)
        own = others.pop(request.user.pk, None)
        found = [
            _("%(person)s has been editing since %(time)s.")
            % {"person": person(row.user), "time": time_of(row.opened_at, now=now)}
            for row in others.values()
        ]
        if own:
            found.append(_("You have this page open in another window."))
        if (seen := request.POST.get("_version", "")) and seen != version_of(vacancy):
            found.append(
                _(
                    "%(people)s saved this vacancy at %(time)s. Your changes are compared when "
                    "you save."
                )
                % {
                    "people": names(authors_since(vacancy, seen)),
                    "time": time_of(vacancy.updated_at, now=now),
                }
            )
        return found

    def discard_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        vacancy = self._edited_or_404(request, object_id)
        mark_saved(request.user, vacancy.pk if vacancy else None, request.POST.get("page", ""))
        self.admin.message_user(
            request, _("Your unsaved changes were discarded."), messages.SUCCESS
        )
        return redirect(form_url(vacancy))


def mark_saved(user: User, pk: int | None, page: str) -> None:
    """Remove the unsaved input of `page`, which was saved."""
    if key := key_of(page):
        Autosave.objects.mark_saved(user=user, vacancy=pk, page=key, at=timezone.now())


def store(request: UserRequest, pk: int | None, data: Input) -> None:
    """Store `data` of the posted form as unsaved input: it was refused."""
    files = [f"{name}={file}" for name, file in chosen_files(request.FILES).items()]
    data = data | {FILES: [*data.get(FILES, []), *files]}
    page = key_of(next(iter(data.get("page", ())), ""))
    if page and len(json.dumps(data)) <= INPUT_MAX:
        Autosave.objects.store(
            user=request.user, vacancy=pk, page=page, data=data, at=timezone.now()
        )


@dataclass(frozen=True)
class Unsaved:
    """The unsaved input of a user for a form. `settled` are the keys of pages whose input was
    saved: a browser must not bring it back.
    """

    data: Input | None = None
    notes: tuple[str, ...] = ()
    saved_at: datetime | None = None
    settled: tuple[str, ...] = ()


def find_unsaved(
    admin: ModelAdmin, request: UserRequest, vacancy: Vacancy | None, *, is_wanted: bool
) -> Unsaved | HttpResponse:
    """Return the unsaved input of the user, merged with what somebody else saved meanwhile. Return
    the page that compares the two, if both changed the same field. Only whether it was saved,
    unless `is_wanted`.
    """
    pk = vacancy.pk if vacancy else None
    settled = tuple(settled_pages(request.user, pk))
    row = Autosave.objects.of(request.user, pk).first()
    if row is None or row.data is None or not is_wanted:
        return Unsaved(settled=settled)
    data: Input = row.data
    time = time_of(row.saved_at, now=timezone.now())
    notes = [_("Unsaved changes from %(time)s were restored.") % {"time": time}]
    if vacancy and data.get("version") != [version_of(vacancy)]:
        merge = merge_input(admin, request, vacancy, data)
        if not merge.is_complete:
            conflict = Conflict(vacancy=vacancy, merge=merge, mine=data)
            return conflict_page(admin, request, conflict, button="_continue")
        notes.append(merged_note(vacancy, next(iter(data.get("version", ())), ""), merge))
        data = merge.data
    files = [each.partition("=")[2] for each in row.data.get(FILES, ())]
    if files:
        notes.append(_("Choose these files again: %(files)s.") % {"files": ", ".join(files)})
    return Unsaved(data, tuple(filter(None, notes)), row.saved_at, settled)
