"""Keeps the unsaved input of the form of a vacancy on the server, restores it, and shows who else has the
form open. The browser's part is vacancies/static/vacancies/autosave.js."""

import json
import re
import secrets
from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.forms.utils import ErrorDict
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from vacancies.admin.conflict import ConflictAdmin, authors_since, names, version_of
from vacancies.admin.form_input import FILES, Input, as_post, chosen_files, posted, untouched
from vacancies.models import Autosave, Presence, Vacancy

INPUT_MAX = 1_000_000  # characters of one input
NEW = 0  # in URLs, for a vacancy that does not exist yet
_KEY = re.compile(r"[a-z0-9]{1,32}")


def time_of(at: Any, *, now: Any) -> str:
    """Return the time of day of `at`, with the date if it is not today."""
    local, today = (timezone.localtime(each, timezone.get_default_timezone()) for each in (at, now))
    return date_format(local, "H:i") if local.date() == today.date() else format_datetime(at)


def key_of(value: str) -> str:
    """Return the key of a page or window, "" if it is not valid."""
    return value if _KEY.fullmatch(value) else ""


class AutosaveAdmin(ConflictAdmin):
    """The unsaved input of the form, and the presence of others. Comes before the classes that save something
    else than the vacancy, such as a template: the input is saved then, too."""

    warn_unsaved_form = False  # autosave.js asks before leaving, also for changes by scripts

    def get_urls(self) -> list[URLPattern]:
        own = {"autosave": self.autosave_view, "discard": self.discard_view}
        return [*self.object_urls(own), *super().get_urls()]

    def _edited_or_404(self, request: HttpRequest, object_id: str) -> Vacancy | None:
        """Return the vacancy that the user may change, None for a new one."""
        if request.method != "POST":
            raise Http404
        pk = as_id(object_id)
        if pk == NEW:
            if not self.has_add_permission(request):
                raise PermissionDenied
            return None
        vacancy = self.get_queryset(request).filter(pk=pk).first() if pk else None
        if vacancy is None:
            raise Http404
        if not self.has_change_permission(request, vacancy):
            raise PermissionDenied
        return vacancy

    # --- requests of autosave.js ---

    def autosave_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Store the posted form, if it is one, and record that the user has it open. Return who else has."""
        vacancy = self._edited_or_404(request, object_id)
        self._check(request, request.POST)
        own = str(request.user.pk)
        if request.POST.get("_user", own) != own:  # another user signed in, in another tab
            text = _("You are signed in as %(user)s now.") % {"user": person(request.user)}
            return JsonResponse({"error": text}, status=409)
        pk, now = vacancy.pk if vacancy else None, timezone.now()
        page, window = (key_of(request.POST.get(name, "")) for name in ("page", "_window"))
        if page and "_unchanged" in request.POST:
            Autosave.objects.of(request.user, pk).filter(page=page, data__isnull=False).delete()
        elif page:
            data = posted(request.POST)
            if len(json.dumps(data)) > INPUT_MAX:
                return JsonResponse({"error": _("This is too long to be kept on the server.")}, status=413)
            Autosave.objects.keep(user=request.user, vacancy=pk, page=page, data=data, at=now)
        if vacancy is None or not window:
            return JsonResponse({"notices": []})
        if "_closed" in request.POST:
            Presence.objects.filter(user=request.user.pk, vacancy=pk, window=window).delete()
            return JsonResponse({"notices": []})
        Presence.objects.report(user=request.user, vacancy=vacancy.pk, window=window, at=now)
        return JsonResponse({"notices": self._notices(request, vacancy, window, now)})

    def _notices(self, request: HttpRequest, vacancy: Vacancy, window: str, now: Any) -> list[str]:
        others: dict[Any, Any] = {}
        for row in Presence.objects.others(user=request.user, vacancy=vacancy.pk, window=window, at=now):
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
                _("%(people)s saved this vacancy at %(time)s. Your changes are compared when you save.")
                % {
                    "people": names(authors_since(vacancy, seen)),
                    "time": time_of(vacancy.updated_at, now=now),
                }
            )
        return found

    def discard_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        vacancy = self._edited_or_404(request, object_id)
        if page := key_of(request.POST.get("page", "")):
            pk = vacancy.pk if vacancy else None
            Autosave.objects.settle(user=request.user, vacancy=pk, page=page, at=timezone.now())
        self.message_user(request, _("Your unsaved changes were discarded."), messages.SUCCESS)
        return redirect(self._form_url(vacancy))

    @staticmethod
    def _form_url(vacancy: Vacancy | None) -> str:
        if vacancy is None:
            return reverse("admin:vacancies_vacancy_add")
        return reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])

    # --- saving ---

    def _changeform_view(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra_context: Any
    ) -> HttpResponse:
        if request.method == "GET" and (page := self._restore(request, object_id)):
            return page
        response = super()._changeform_view(request, object_id, form_url, extra_context)
        if request.method == "POST" and response.status_code != 302:  # errors, or a conflict
            self._keep(request, as_id(object_id) if object_id else None, posted(request.POST))
        return response

    def response_add(self, request: HttpRequest, obj: Vacancy, *args: Any, **kwargs: Any) -> HttpResponse:
        self._settle(request, None)
        return super().response_add(request, obj, *args, **kwargs)

    def response_change(self, request: HttpRequest, obj: Vacancy) -> HttpResponse:
        self._settle(request, obj.pk)
        return super().response_change(request, obj)

    def _settle(self, request: HttpRequest, pk: int | None) -> None:
        if page := key_of(request.POST.get("page", "")):
            Autosave.objects.settle(user=request.user, vacancy=pk, page=page, at=timezone.now())

    def _keep(self, request: HttpRequest, pk: int | None, data: Input) -> None:
        files = [f"{name}={file}" for name, file in chosen_files(request.FILES).items()]
        data[FILES] = [*data.get(FILES, []), *files]
        page = key_of(next(iter(data.get("page", ())), ""))
        if page and len(json.dumps(data)) <= INPUT_MAX:
            Autosave.objects.keep(user=request.user, vacancy=pk, page=page, data=data, at=timezone.now())

    def keep_editing(self, request: HttpRequest, vacancy: Vacancy, data: Input) -> HttpResponse:
        self._keep(request, vacancy.pk, data)
        return redirect(self._form_url(vacancy))

    # --- restoring ---

    def _restore(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        """Let the form show the unsaved input of the user. Return the page that compares it with what
        somebody else saved meanwhile, if both changed the same field."""
        pk = None if object_id is None else as_id(object_id) or -1
        row = Autosave.objects.of(request.user, pk).first()
        if row is None:
            return None
        request.settled_page = row.page if row.data is None else ""  # type: ignore[attr-defined]
        vacancy = None
        if object_id is not None:
            vacancy = self.get_object(request, unquote(object_id))
            if vacancy is None or not self.has_change_permission(request, vacancy):
                return None
        elif not self.has_add_permission(request) or set(request.GET) - {"_changelist_filters"}:
            return None
        if row.data is None or IS_POPUP_VAR in request.GET:
            return None
        data: Input = row.data
        notes = [
            _("Unsaved changes from %(time)s were restored.")
            % {"time": time_of(row.saved_at, now=timezone.now())}
        ]
        if vacancy and data.get("version") != [version_of(vacancy)]:
            merge = self.merged(request, vacancy, data, uploads={}, decisions={})
            if not merge.is_complete:
                return self.conflict_page(request, vacancy, merge, data, button="_continue")
            if merge.from_theirs:
                people = names(authors_since(vacancy, next(iter(data.get("version", ())), "")))
                notes.append(
                    _("Merged with the changes of %(people)s: %(fields)s.")
                    % {"people": people, "fields": ", ".join(merge.from_theirs)}
                )
            data = merge.data
        files = [each.partition("=")[2] for each in row.data.get(FILES, ())]
        if files:
            notes.append(_("Choose these files again: %(files)s.") % {"files": ", ".join(files)})
        request.restored = as_post(data)  # type: ignore[attr-defined]
        request.restored_notes = notes  # type: ignore[attr-defined]
        request.restored_at = row.saved_at  # type: ignore[attr-defined]
        return None

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        restored = getattr(request, "restored", None)
        return restored_form(form, restored) if restored is not None else form

    def get_formset_kwargs(self, request: HttpRequest, obj: Any, inline: Any, prefix: str) -> dict[str, Any]:
        kwargs = super().get_formset_kwargs(request, obj, inline, prefix)
        restored = getattr(request, "restored", None)
        return kwargs if restored is None else kwargs | {"data": restored, "files": {}}

    def get_inline_formsets(
        self, request: HttpRequest, formsets: list[Any], *args: Any, **kwargs: Any
    ) -> Any:
        if getattr(request, "restored", None) is not None:
            for formset in formsets:
                without_errors(formset)
        return super().get_inline_formsets(request, formsets, *args, **kwargs)

    def render_change_form(
        self, request: HttpRequest, context: Any, add: bool = False, change: bool = False,
        form_url: str = "", obj: Vacancy | None = None,
    ) -> HttpResponse:  # fmt: skip
        form = context["adminform"].form
        if self.has_add_permission(request) if obj is None else self.has_change_permission(request, obj):
            if form.is_bound:
                base, page = form.data.get("base", ""), key_of(form.data.get("page", ""))
            else:
                formsets = [each.formset for each in context["inline_admin_formsets"]]
                base, page = json.dumps(untouched(form, formsets)) if obj else "", ""
            context |= {
                "base": base,
                "page": page or secrets.token_hex(8),
                "is_unsaved": form.is_bound,
                "autosave_id": obj.pk if obj else NEW,
                "restored_notes": getattr(request, "restored_notes", []),
                "restored_at": getattr(request, "restored_at", None),
                "settled_page": getattr(request, "settled_page", ""),
            }
        return super().render_change_form(request, context, add, change, form_url, obj)


def restored_form(form: Any, data: Any) -> Any:
    """Return `form`, a class, with unsaved input in place of the stored values. It is not validated: the user
    is not done."""

    class Restored(form):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(data, **kwargs)
            self._errors = ErrorDict()

    return Restored


def without_errors(formset: Any) -> None:
    for row in formset.forms:
        row._errors = ErrorDict()
    formset._errors = [row._errors for row in formset.forms]
    formset._non_form_errors = formset.error_class()
