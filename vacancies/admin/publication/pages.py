"""The publication actions in the admin: a page for each action, for one vacancy."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobsite.admin.base import as_id
from jobsite.admin.confirmation import ActionRow, ActionSection, with_undo
from jobsite.admin.pages import AdminPages
from jobsite.languages import text_languages
from jobsite.text.iso_names import language_name
from jobsite.types import Context, StrOrPromise, UserRequest
from vacancies.access.previews import token_for
from vacancies.admin.date_rules import date_rules
from vacancies.admin.publication.actions import ACTIONS, BY_NAME, PublicationAction
from vacancies.admin.publication.public_changes import public_changes
from vacancies.admin.publication.selection import VacancySelection
from vacancies.choices import State
from vacancies.models import Autosave, Vacancy
from vacancies.models.vacancy_text import languages_of
from vacancies.operations.approval_requests import waiting_request
from vacancies.operations.publication import BulkResult
from vacancies.quality.warnings import content_warnings, with_warnings
from vacancies.querysets import VacancyQuerySet

REASONS_SHOWN = 10


class PublicationPages(AdminPages):
    """The pages of the publication actions: one per action for a single vacancy."""

    def urls(self) -> list[URLPattern]:
        return [
            self.url(f"<path:object_id>/{name}/", self.action_view, name, name=name)
            for name in BY_NAME
        ]

    def may(
        self, action: PublicationAction, request: UserRequest, vacancy: Vacancy | None = None
    ) -> bool:
        return self.has_right(action.permission, request, vacancy)

    def has_right(self, verb: str, request: UserRequest, vacancy: Vacancy | None = None) -> bool:
        if verb == "add":
            return self.admin.has_add_permission(request)
        return getattr(self.admin, f"has_{verb}_permission")(request, vacancy)

    def buttons(self, request: UserRequest, vacancy: Vacancy) -> list[Context]:
        """Return the buttons of the actions that apply to `vacancy`.
        What waits is not submitted again.
        """
        found = [
            {
                "name": action.name,
                "label": action.label,
                "icon": action.icon,
                "is_main": action.is_main,
                "is_danger": action.is_danger,
                "url": reverse(f"admin:vacancies_vacancy_{action.name}", args=[vacancy.pk]),
            }
            for action in ACTIONS
            if action.is_button
            and vacancy.state in action.states
            and self.may(action, request, vacancy)
            if vacancy.publish_until or action is not BY_NAME["extend"]  # needs a closing date
            if action.with_approval
            in (None, bool(vacancy.brand and vacancy.brand.requires_approval))
        ]
        submit = reverse("admin:vacancies_vacancy_submit", args=[vacancy.pk])
        is_waiting = any(button["url"] == submit for button in found) and waiting_request(vacancy)
        return [button for button in found if not (is_waiting and button["url"] == submit)]

    # --- a single vacancy ---

    def action_view(self, request: UserRequest, object_id: str, name: str) -> HttpResponse:
        """GET shows a confirmation page: what the action overwrites, blockers, content warnings and
        public changes. POST runs the action. If it is refused, the page shows the reason at the
        field.
        """
        action = BY_NAME[name]
        vacancy = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        if not self.may(action, request, vacancy):
            raise PermissionDenied
        vacancies = Vacancy.objects.filter(pk=vacancy.pk)
        form = action.form(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            seen = (
                VacancySelection.sent_by(request, vacancies)
                if VacancySelection.parameter in request.POST
                else None
            )
            result = self.run_action(request, action, vacancies, form, seen)
            if result.done or not form.fields:
                back = reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
                self.report(request, action, result, back)
                self.link_to_site(request, action, vacancies)
                return redirect(self.page_after(action, vacancy, result))
            for field, reason in result.refused[vacancy].items():
                form.add_error(self.field_of(form, field), reason)
        title = _("%(action)s: %(vacancy)s") % {"action": action.label, "vacancy": vacancy}
        context = {
            **self.page_context(request, action, form, title),
            "original": vacancy,
            "overwritten": action.overwritten(vacancy),
            "publish_blockers": self.publish_blockers(
                request, action, vacancy, has_input=bool(form.fields)
            ),
            "warnings": self.warnings(vacancies) if action.shows_changes else [],
            **(self.shown_to_public(request, vacancy) if action.shows_changes else {}),
            "selection": VacancySelection.of(vacancies),
            "back": reverse("admin:vacancies_vacancy_change", args=[vacancy.pk]),
            "back_label": _("Back to the vacancy"),
        }
        return TemplateResponse(request, "admin/confirm_action.html", context)

    @staticmethod
    def shown_to_public(request: UserRequest, vacancy: Vacancy) -> Context:
        """Return the pages that the public will see, one for each language, and what changes for
        those who saw it.
        """
        address = reverse("preview", args=[token_for(vacancy.pk)])
        previews = [
            (language_name(code), f"{address}?language={code}" if text_languages() else address)
            for code in languages_of(vacancy)
        ]
        return {**public_changes(vacancy, request.user), "previews": previews}

    def link_to_site(
        self, request: UserRequest, action: PublicationAction, vacancies: VacancyQuerySet
    ) -> None:
        """Add a message with a link to what was published."""
        vacancy = vacancies.without_texts().first()
        if action.shows_changes and vacancy and vacancy.state == State.PUBLISHED:
            link = format_html(
                '<a class="text-link" href="{}">{}</a>',
                vacancy.get_absolute_url(),
                _("View on site"),
            )
            self.admin.message_user(request, link, messages.SUCCESS)

    def warnings(self, vacancies: VacancyQuerySet) -> list[StrOrPromise]:
        """Return what is wrong with the vacancy, and which translations readers will not get."""
        vacancy = with_warnings(vacancies, at=timezone.now()).get()
        found = [warning.text for warning in content_warnings(vacancy)]
        text = _("the translation into %(language)s is not ready")
        rows = vacancy.translations.filter(is_ready=False, language__in=text_languages())
        return [*found, *(text % {"language": language_name(row.language)} for row in rows)]

    def publish_blockers(
        self, request: UserRequest, action: PublicationAction, vacancy: Vacancy, *, has_input: bool
    ) -> list[str]:
        """Return why the action would be refused, by a preview, or would leave out what the user
        typed.
        """
        unsaved = Autosave.objects.of(request.user, vacancy.pk).filter(data__isnull=False)
        if action.shows_changes and unsaved.exists():
            return [_("You have unsaved changes of this vacancy. Save or discard them first.")]
        if has_input:  # shown at its field
            return []
        vacancies = Vacancy.objects.filter(pk=vacancy.pk)
        result = action.run(vacancies=vacancies, at=timezone.now(), author=None, is_preview=True)
        return [reason for reasons in result.refused.values() for reason in reasons.values()]

    @staticmethod
    def field_of(form: forms.Form, name: str) -> str | None:
        """Return the field of `form` that sets the field `name` of a vacancy, or None."""
        field = {"publish_until": "day"}.get(name, name)
        return field if field in form.fields else None

    @staticmethod
    def page_after(action: PublicationAction, vacancy: Vacancy, result: BulkResult) -> str:
        if action.permission == "delete" and result.done:
            return reverse("admin:vacancies_vacancy_changelist")
        target = result.done[0] if action.permission == "add" and result.done else vacancy.pk
        return reverse("admin:vacancies_vacancy_change", args=[target])

    # --- shared with the actions of the list ---

    def page_context(
        self, request: UserRequest, action: PublicationAction, form: forms.Form, title: StrOrPromise
    ) -> dict[str, object]:
        media = self.admin.media + form.media
        return self.context(
            request, title, media=media, action=action, form=form, date_rules=date_rules()
        )

    def run_action(
        self,
        request: UserRequest,
        action: PublicationAction,
        vacancies: VacancyQuerySet,
        form: forms.Form,
        seen: VacancySelection | None,
    ) -> BulkResult:
        """Run the action on those of `vacancies` that nobody changed since the user saw them."""
        with transaction.atomic():
            rows = list(vacancies.without_texts()) if action.permission == "delete" else []
            changed: list[int] = []
            if seen is not None:
                now = VacancySelection.of(vacancies.select_for_update()).seen
                changed = [pk for pk, at in now.items() if at != seen.seen.get(pk)]
            result = action.run(
                vacancies=vacancies.exclude(pk__in=changed) if changed else vacancies,
                at=timezone.now(),
                author=request.user,
                **form.cleaned_data,
            )
            for vacancy in Vacancy.objects.filter(pk__in=changed).without_texts():
                text = _("Somebody changed it in the meantime. Look at it again.")
                result.refused[vacancy] = {"": text}
            if rows and result.done:
                done = set(result.done)
                self.admin.log_deletions(request, [row for row in rows if row.pk in done])  # type: ignore[arg-type]
        return result

    def report(
        self, request: UserRequest, action: PublicationAction, result: BulkResult, back: str
    ) -> None:
        """Add messages: how many vacancies changed, with a button to undo it, and which did not and
        why.
        """
        if count := len(result.done):
            text = action.done % {"count": count}
            if result.first_version and self.has_right(action.undone_by, request):
                url = reverse("admin:vacancies_vacancy_undo", args=[result.first_version])
                text = with_undo(text, url, back)
            self.admin.message_user(request, text, messages.SUCCESS)
        self.report_refused(request, result)

    def report_refused(self, request: UserRequest, result: BulkResult) -> None:
        for vacancy, reasons in list(result.refused.items())[:REASONS_SHOWN]:
            text = _("“%(vacancy)s” was not changed. %(reason)s") % {
                "vacancy": vacancy,
                "reason": " ".join(reasons.values()),
            }
            self.admin.message_user(request, text, messages.WARNING)
        if (more := len(result.refused) - REASONS_SHOWN) > 0:
            text = ngettext(
                "%(count)d more vacancy was not changed.",
                "%(count)d more vacancies were not changed.",
                more,
            )
            self.admin.message_user(request, text % {"count": more}, messages.WARNING)


def sections(action: PublicationAction, vacancies: VacancyQuerySet) -> list[ActionSection]:
    """Return what the confirmation page of `action` lists: the vacancies of which it overwrites
    something, or that have a content warning; those that lack facts; the others; those that it
    refuses, with the reason.
    """
    at = timezone.now()
    result = action.run(
        vacancies=vacancies, at=at, author=None, is_preview=True, **action.preview_values(at)
    )
    refused = {vacancy.pk: list(reasons.values()) for vacancy, reasons in result.refused.items()}
    rows = vacancies.without_texts().order_by("pk")
    if action.shows_changes:
        rows = with_warnings(rows, at=at)
    noted: list[ActionRow] = []
    lacking: list[ActionRow] = []
    plain: list[ActionRow] = []
    left: list[ActionRow] = []
    for vacancy in rows.iterator(chunk_size=2000):
        if vacancy.pk in refused:
            left.append(ActionRow(str(vacancy), refused[vacancy.pk], vacancy.state))
            continue
        notes: list[str] = action.overwritten(vacancy)
        warnings = content_warnings(vacancy) if action.shows_changes else []
        is_noted = bool(notes) or not all(warning.is_of_facts for warning in warnings)
        if texts := "; ".join(str(warning.text) for warning in warnings):
            notes.append(_("Content warnings: %(texts)s.") % {"texts": texts})
        rows_of = noted if is_noted else lacking if notes else plain
        rows_of.append(ActionRow(str(vacancy), notes, vacancy.state))
    found = [
        ActionSection(
            _("Check these vacancies (%(count)d)") % {"count": len(noted)}, noted, is_warning=True
        ),
        ActionSection(
            _("Facts are missing for search engines (%(count)d)") % {"count": len(lacking)}, lacking
        ),
        ActionSection(_("Vacancies (%(count)d)") % {"count": len(plain)}, plain),
        ActionSection(_("Not changed (%(count)d)") % {"count": len(left)}, left, is_changed=False),
    ]
    return [section for section in found if section.rows]
