"""The page with the form of a vacancy: GET shows it, POST saves it."""

import json
import secrets
from typing import Any

from django.contrib import messages
from django.contrib.admin.exceptions import DisallowedModelAdminToField
from django.contrib.admin.helpers import AdminErrorList
from django.contrib.admin.options import IS_POPUP_VAR, TO_FIELD_VAR
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from unfold.forms import AdminForm

from jobsite.admin.base import as_id
from jobsite.text.html_tables import HAS_TABLE
from jobsite.text.iso_names import language_name
from jobsite.types import Context, UserRequest
from vacancies.admin.base import TABLE_NOTE
from vacancies.admin.date_rules import date_rules
from vacancies.admin.edit import conflict
from vacancies.admin.edit import template as templates
from vacancies.admin.edit.autosave import (
    NEW,
    Unsaved,
    find_unsaved,
    form_url,
    key_of,
    mark_saved,
    store,
)
from vacancies.admin.edit.form_input import FILES, chosen_files, parse_post_data, post_data
from vacancies.admin.edit.forms import EditForms, Start, make_forms
from vacancies.admin.edit.merge import Merge
from vacancies.admin.edit.prefill import start_of_request
from vacancies.admin.edit.requisition import box
from vacancies.admin.edit.texts import COPY, EXCHANGE, OPEN, opened, reworked, stored_texts
from vacancies.admin.edit.typing_aids import typing_aids
from vacancies.admin.publication.approval import last_request
from vacancies.choices import State
from vacancies.fields import html_fields
from vacancies.history.versions import Content
from vacancies.models import Vacancy
from vacancies.operations.approval_requests import SUBMITTED, RequestConflictError
from vacancies.operations.save import Edit, Saved, save_content
from vacancies.quality.warnings import content_warnings, with_warnings


class EditPage:
    """One request for the form of the vacancy `object_id`, None for a new one.
    `admin` is its admin.
    """

    def __init__(
        self,
        admin: Any,
        request: UserRequest,
        object_id: str | None,
        form_url: str,
        extra_context: Context | None,
    ) -> None:
        self.admin, self.request, self.object_id = admin, request, object_id
        self.form_url, self.extra_context = form_url, extra_context or {}
        self.vacancy: Vacancy | None = None
        self.template: Any = None

    def response(self) -> HttpResponse:
        admin, request = self.admin, self.request
        to_field = request.POST.get(TO_FIELD_VAR, request.GET.get(TO_FIELD_VAR))
        if to_field and not admin.to_field_allowed(request, to_field):
            raise DisallowedModelAdminToField(f"The field {to_field} cannot be referenced.")
        if self.object_id is None:
            if not admin.has_add_permission(request):
                raise PermissionDenied
            self.template = templates.template_of(request)
        else:
            self.vacancy = admin.get_object(request, unquote(self.object_id), to_field)
            is_post = request.method == "POST"
            may = admin.has_change_permission if is_post else admin.has_view_or_change_permission
            if not may(request, self.vacancy):
                raise PermissionDenied
            if self.vacancy is None:
                return admin._get_obj_does_not_exist_redirect(request, admin.opts, self.object_id)
        return self._post() if request.method == "POST" else self._get()

    # --- GET ---

    def _get(self) -> HttpResponse:
        admin, request, vacancy = self.admin, self.request, self.vacancy
        if vacancy:
            is_wanted = admin.has_change_permission(request, vacancy)
            start = start_of_request(request, vacancy)
        else:
            is_wanted = not set(request.GET) - {"_changelist_filters"}
            start = templates.start_of(self.template, request.user) if self.template else Start()
            start.initial = admin.get_changeform_initial_data(request) | start.initial
        unsaved = find_unsaved(
            admin, request, vacancy, is_wanted=is_wanted and IS_POPUP_VAR not in request.GET
        )
        if isinstance(unsaved, HttpResponse):
            return unsaved
        forms = make_forms(admin, request, vacancy, start=start, data=unsaved.data)
        if unsaved.data is not None:
            forms.without_errors()
        return self._show(forms, unsaved, start.not_filled_in)

    # --- POST ---

    def _post(self) -> HttpResponse:
        texts, post = stored_texts(self.vacancy), self.request.POST
        if data := reworked(post_data(post), post.dict(), texts):
            forms = make_forms(self.admin, self.request, self.vacancy, data=data)
            forms.without_errors()
            return self._show(forms, Unsaved(), [])
        merge = (
            conflict.merge_posted(self.admin, self.request, self.vacancy) if self.vacancy else None
        )
        if merge and (response := self._to_decide(merge)):
            return response
        if merge and self.vacancy:
            seen = self.request.POST.get("version", "")
            self._note(conflict.merged_note(self.vacancy, seen, merge), messages.INFO)
        data, files = conflict.merged_data(self.request, merge)
        image = (self.template.content.get("image") or "") if self.template else ""
        forms = make_forms(
            self.admin, self.request, self.vacancy, start=Start(image=image), data=data, files=files
        )
        if not forms.is_valid():
            return self._refused(forms, merge)
        wanted = forms.content()
        if self.template:
            chosen = templates.chosen_files(self.request, self.template)
            wanted["attachments"] = [*chosen, *wanted["attachments"]]
            if "edit" in self.request.GET:
                return self._save_template(wanted)
        decisions = conflict.decisions_of(self.request)
        waiting = as_id(self.request.POST.get(conflict.REQUEST))
        wanted = {
            name: each for name, each in wanted.items() if decisions.get(name) != conflict.THEIRS
        }
        try:
            saved = save_content(
                self.vacancy or Vacancy(),
                Edit(wanted),
                author=self.request.user,
                at=timezone.now(),
                overrides={
                    (waiting, name) for name, choice in decisions.items() if choice == conflict.MINE
                },
            )
        except RequestConflictError as error:
            return self._ask(conflict.merge_request(error, wanted), error)
        except ValidationError as error:
            forms.form.add_reasons(error.message_dict)
            return self._refused(forms, merge)
        return self._saved(forms, saved)

    def _to_decide(self, merge: Merge) -> HttpResponse | None:
        """Return the page that asks which text to keep, or the way to the merged text if that is
        wanted.
        """
        if not merge.is_complete:
            return self._ask(merge)
        if conflict.KEEP_EDITING not in self.request.POST:
            return None
        assert self.vacancy is not None
        store(self.request, self.vacancy.pk, merge.data)
        return redirect(form_url(self.vacancy))

    def _ask(self, merge: Merge, error: RequestConflictError | None = None) -> HttpResponse:
        request, vacancy = self.request, self.vacancy
        assert vacancy is not None
        mine = post_data(request.POST)
        store(request, vacancy.pk, mine)
        files = [f"{name}={file}" for name, file in chosen_files(request.FILES).items()]
        mine[FILES] = [*mine.get(FILES, []), *files]
        button = next(
            (name for name in ("_addanother", "_continue") if name in request.POST), "_save"
        )
        found = conflict.Conflict(vacancy=vacancy, merge=merge, mine=mine, error=error)
        return conflict.conflict_page(self.admin, request, found, button=button)

    def _refused(self, forms: EditForms, merge: Merge | None) -> HttpResponse:
        data = merge.data if merge else post_data(self.request.POST)
        store(self.request, self.vacancy.pk if self.vacancy else None, data)
        return self._show(forms, Unsaved(), [])

    def _save_template(self, wanted: Content) -> HttpResponse:
        templates.save_template(self.template, wanted, self.request.user)
        mark_saved(self.request.user, None, self.request.POST.get("page", ""))
        self._note(templates.saved_text(self.template), messages.SUCCESS)
        return redirect(templates.LIST)

    def _saved(self, forms: EditForms, saved: Saved) -> HttpResponse:
        admin, request, vacancy = self.admin, self.request, saved.vacancy
        is_new = self.vacancy is None
        texts = (forms.form.data.get(name, "") for name in html_fields(Vacancy))
        if any(map(HAS_TABLE.search, texts)):
            self._note(TABLE_NOTE, messages.WARNING)
        for text in [*saved.plan.unfinished, *warnings_about(vacancy)]:
            self._note(text, messages.WARNING)
        log = admin.log_addition if is_new else admin.log_change
        log(request, vacancy, admin.construct_change_message(request, forms.form, [], is_new))
        mark_saved(request.user, None if is_new else vacancy.pk, request.POST.get("page", ""))
        if saved.approval:
            self._note(SUBMITTED, messages.SUCCESS)
            return redirect("admin:vacancies_vacancy_change", vacancy.pk)
        return (
            admin.response_add(request, vacancy)
            if is_new
            else admin.response_change(request, vacancy)
        )

    def _note(self, text: Any, level: int) -> None:
        if text:
            self.admin.message_user(self.request, text, level)

    # --- showing the form ---

    def _show(self, forms: EditForms, unsaved: Unsaved, not_filled_in: list[str]) -> HttpResponse:
        admin, request, vacancy = self.admin, self.request, self.vacancy
        is_new = vacancy is None
        may_save = is_new or admin.has_change_permission(request, vacancy)
        fieldsets = admin.get_fieldsets(request, vacancy)
        fixed = (
            admin.get_readonly_fields(request, vacancy)
            if may_save
            else flatten_fieldsets(fieldsets)
        )
        form = AdminForm(forms.form, list(fieldsets), {}, fixed, model_admin=admin)
        inlines = admin.get_inline_formsets(request, forms.formsets, forms.inlines, vacancy)
        media = admin.media + form.media
        for inline in inlines:
            media += inline.media
        title = _("Add %s") if is_new else _("Change %s") if may_save else _("View %s")
        context = {
            **admin.admin_site.each_context(request),
            "title": title % admin.opts.verbose_name,
            "subtitle": str(vacancy) if vacancy else None,
            "adminform": form,
            "object_id": self.object_id,
            "original": vacancy,
            "is_popup": IS_POPUP_VAR in request.POST or IS_POPUP_VAR in request.GET,
            "to_field": request.POST.get(TO_FIELD_VAR, request.GET.get(TO_FIELD_VAR)),
            "media": media,
            "inline_admin_formsets": inlines,
            "errors": AdminErrorList(forms.form, forms.formsets),
            "preserved_filters": admin.get_preserved_filters(request),
            "not_filled_in": not_filled_in,
            "own_code": forms.texts.own,
            "own_language": capfirst(language_name(forms.texts.own)),
            "open_text": request.POST.get(OPEN) or request.POST.get(COPY),
            "text_tabs": forms.texts.tabs(),
            "text_exchange": forms.form[EXCHANGE] if EXCHANGE in forms.form.fields else None,
            "date_rules": date_rules(),
            "typing_aids": typing_aids(request.user),
            "can_add_options": request.user.has_perm("vacancies.add_filteroption"),
            **self.extra_context,
            **(self._autosave_context(forms, unsaved) if may_save else {}),
            **(
                self._vacancy_context(vacancy)
                if vacancy
                else templates.template_context(request, self.template)
            ),
        }
        return admin.render_change_form(
            request, context, add=is_new, change=not is_new, obj=vacancy, form_url=self.form_url
        )

    def _autosave_context(self, forms: EditForms, unsaved: Unsaved) -> Context:
        """Return what autosave.js and the merge need:
        the key of the page, and what it started from.
        """
        form = forms.form
        if form.is_bound:
            base, page = self._base_of(forms), key_of(form.data.get("page", ""))
        else:
            base, page = json.dumps(forms.initial_post_data()) if self.vacancy else "", ""
        return {
            "base": base,
            "page": page or secrets.token_hex(8),
            "is_unsaved": form.is_bound,
            "autosave_id": self.vacancy.pk if self.vacancy else NEW,
            "restored_notes": unsaved.notes,
            "restored_at": unsaved.saved_at,
            "settled_pages": " ".join(unsaved.settled),
        }

    def _base_of(self, forms: EditForms) -> str:
        """Return what the page started from, with the fields of languages that were opened since."""
        text = str(forms.form.data.get("base", ""))
        base = parse_post_data(text)
        new = set(forms.texts.languages) - set(opened(base or {}))
        if not base or not new:
            return text
        start = make_forms(self.admin, self.request, self.vacancy, start=Start(languages=[*new]))
        return json.dumps(start.initial_post_data() | base)

    def _vacancy_context(self, vacancy: Vacancy) -> Context:
        admin, request = self.admin, self.request
        return {
            "head": admin.head_of(request, vacancy),
            "show_delete": False,  # it is in the menu, not beside "Save"
            "shows_review": vacancy.state in (State.PUBLISHED, State.SCHEDULED)
            and admin.has_change_permission(request, vacancy),
            **last_request(request.user, vacancy),
            **box(request.user, vacancy),
        }


def warnings_about(vacancy: Vacancy) -> list[str]:
    """Return a sentence with the content warnings of the vacancy, if it is public or becomes
    public.
    """
    at = timezone.now()
    shown = Vacancy.objects.filter(pk=vacancy.pk).visible(at=at)
    return [
        _("“%(vacancy)s”: %(warnings)s.")
        % {"vacancy": row, "warnings": "; ".join(str(warning.text) for warning in found)}
        for row in with_warnings(shown, at=at)
        if (found := content_warnings(row))
    ]
