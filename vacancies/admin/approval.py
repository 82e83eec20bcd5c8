"""Approval in the admin: saves that need it become requests, and the page where a colleague decides."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.db.transactions import dry_run
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from vacancies.admin.public_changes import public_changes
from vacancies.approval import (
    SUBMITTED,
    request_approval,
    send_back,
    waiting_request,
    why_not_decide,
    withdraw,
)
from vacancies.approving import approve, fingerprint
from vacancies.history.diff import Difference, differences, field_labels
from vacancies.history.versions import PUBLICATION, changed_content, content, values_of
from vacancies.models import APPROVE, Approval, Status, Vacancy, needs_approval
from vacancies.models.approval import PUBLIC
from vacancies.quality import content_warnings, with_warnings
from vacancies.querysets import own_brand


class DecisionForm(forms.Form):
    note = forms.CharField(
        label=gettext_lazy("Note"),
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=gettext_lazy("Required to send the vacancy back: write what has to change."),
    )


def described(approval: Approval) -> dict[str, Any]:
    """Return a request as texts for a page."""
    return {
        "approval": approval,
        "has_texts": bool(set(approval.changes) - set(PUBLICATION)),
        "submitted_by": person(approval.submitted_by) if approval.submitted_by else _("a former user"),
        "submitted_at": format_datetime(approval.submitted_at),
        "decided_by": person(approval.decided_by) if approval.decided_by else _("a former user"),
        "decided_at": format_datetime(approval.decided_at) if approval.decided_at else "",
    }


class ApprovalAdmin(JobsiteAdmin):
    """Turns a save that needs approval into a request, and shows requests."""

    def get_urls(self) -> list[URLPattern]:
        return [*self.object_urls({"approval": self.approval_view}), *super().get_urls()]

    # --- saving ---

    def save_model(self, request: HttpRequest, obj: Vacancy, form: Any, change: bool) -> None:
        form.at = timezone.now()
        form.before = Vacancy.objects.select_related("brand").get(pk=obj.pk) if change else None
        form.requested = None
        is_public = change and form.before.state_at(form.at) in PUBLIC
        # A change of a public vacancy is saved in save_related, where the changes of its rows are known.
        form.is_deferred = is_public and needs_approval(
            before=form.before, after=obj, changed=("any",), at=form.at
        )
        if form.is_deferred:
            return
        if needs_approval(before=form.before, after=obj, at=form.at):
            form.requested = self._without_publication(obj, form)
        super().save_model(request, obj, form, change)

    def _without_publication(self, vacancy: Vacancy, form: Any) -> dict[str, Any]:
        """Keep `vacancy` from becoming public by this save. Return the changes to request."""
        before = form.before or Vacancy()
        wanted, stored = values_of(vacancy, PUBLICATION), values_of(before, PUBLICATION)
        changes = {name: value for name, value in wanted.items() if value != stored[name]}
        if vacancy.publish_from and vacancy.publish_from > form.at:
            changes["publish_from"] = wanted["publish_from"]
        if before.status == Status.PUBLISHED:  # expired: its dates would publish it again
            vacancy.publish_from, vacancy.publish_until = before.publish_from, before.publish_until
        else:
            vacancy.status = before.status
        return changes

    def save_related(self, request: HttpRequest, form: Any, formsets: list[Any], change: bool) -> None:
        vacancy, requested = form.instance, form.requested
        if form.is_deferred:
            changed = {*form.changed_data, *(f.prefix for f in formsets if f.has_changed())}
            is_proposal = needs_approval(before=form.before, after=vacancy, changed=changed, at=form.at)
            before = content(vacancy)
            with dry_run(is_proposal):
                super().save_model(request, vacancy, form, change)
                super().save_related(request, form, formsets, change)
                after = content(vacancy)
            requested = changed_content(before, after) if is_proposal else None
        else:
            super().save_related(request, form, formsets, change)
        if requested:
            vacancy.requested = request_approval(vacancy, requested, at=form.at, author=request.user)

    def response_add(self, request: HttpRequest, obj: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        return self._submitted(request, obj) or super().response_add(request, obj, *args, **kwargs)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self._submitted(request, obj) or super().response_change(request, obj)

    def _submitted(self, request: HttpRequest, vacancy: Any) -> HttpResponse | None:
        if not hasattr(vacancy, "requested"):
            return None
        self.message_user(request, SUBMITTED, messages.SUCCESS)
        return redirect("admin:vacancies_vacancy_change", vacancy.pk)

    # --- pages ---

    def buttons(self, request: HttpRequest, vacancy: Vacancy) -> list[dict[str, Any]]:
        """A vacancy that waits is not submitted again."""
        found = super().buttons(request, vacancy)  # type: ignore[misc]
        submit = reverse("admin:vacancies_vacancy_submit", args=[vacancy.pk])
        is_waiting = any(button["url"] == submit for button in found) and waiting_request(vacancy)
        return [button for button in found if not (is_waiting and button["url"] == submit)]

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(APPROVE)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        vacancy = kwargs.get("obj") or context.get("original")
        if vacancy and vacancy.pk:
            rows = Approval.objects.filter(own_brand(request.user), vacancy=vacancy.pk)
            if approval := rows.select_related("submitted_by", "decided_by").first():
                context["approval_request"] = described(approval)
        return super().render_change_form(request, context, *args, **kwargs)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Add the requests for approval, with both people, to the history."""
        rows = Approval.objects.filter(own_brand(request.user), vacancy__in=[as_id(object_id)])
        found = list(rows.select_related("submitted_by", "decided_by"))
        labels = field_labels() if found else {}
        approvals = [
            described(approval) | {"differences": differences({}, approval.changes, labels)}
            for approval in found
        ]
        return super().history_view(request, object_id, {"approvals": approvals} | (extra_context or {}))

    def approval_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show what a request changes. POST approves it, sends it back or withdraws it."""
        vacancy = get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        if not self.has_view_permission(request, vacancy):
            raise PermissionDenied
        back = redirect("admin:vacancies_vacancy_change", vacancy.pk)
        approval = waiting_request(vacancy)
        if approval is None:
            self.message_user(request, _("No request waits for approval."), messages.INFO)
            return back
        form = DecisionForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                self._decide(request, vacancy, form.cleaned_data["note"])
                return back
            except ValidationError as error:
                form.add_error(None, error)
        context = {
            **self.admin_site.each_context(request),
            **described(approval),
            "title": _("Approval: %(vacancy)s") % {"vacancy": vacancy},
            "opts": self.opts,
            "original": vacancy,
            "form": form,
            "seen": fingerprint(vacancy, approval),
            "media": self.media + form.media,
            "why_not": why_not_decide(approval, request.user),
            "may_withdraw": self.has_change_permission(request, vacancy),
            "warnings": [
                warning.text
                for warning in content_warnings(
                    with_warnings(Vacancy.objects.filter(pk=vacancy.pk), at=timezone.now()).get()
                )
            ],
            **self._shown(vacancy, approval, request.user),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/approval.html", context)

    def _shown(self, vacancy: Vacancy, approval: Approval, user: Any) -> dict[str, Any]:
        """Return what becomes public: the changes of a public vacancy, or the whole of another one."""
        now = content(vacancy)
        requested: list[Difference] = differences(now, now | approval.changes)
        if vacancy.state in PUBLIC:
            return {"was_public": True, "changes": requested}
        shown = public_changes(vacancy, user)
        dates = [each for each in requested if each.name != "status"]
        return shown | {"dates": dates, "publish_from": approval.changes.get("publish_from")}

    def _decide(self, request: HttpRequest, vacancy: Vacancy, note: str) -> None:
        """Do what the pressed button says. Raises ValidationError."""
        how: dict[str, Any] = {"vacancy": vacancy, "at": timezone.now(), "author": request.user}
        if "withdraw" in request.POST:
            if not self.has_change_permission(request, vacancy):
                raise PermissionDenied
            withdraw(**how)
            text = _("The request was withdrawn.")
        elif not self.has_approve_permission(request):
            raise PermissionDenied
        elif "send_back" in request.POST:
            send_back(note=note, **how)
            text = _("The vacancy was sent back.")
        elif "approve" in request.POST:
            _approval, missing = approve(seen=request.POST.get("seen", ""), note=note, **how)
            text = _("The request was approved.")
            if missing:
                names = _("Not applied because they no longer exist: %(names)s.")
                self.message_user(request, names % {"names": ", ".join(missing)}, messages.WARNING)
        else:
            raise ValidationError(_("Choose what to do with the request."))
        self.message_user(request, text, messages.SUCCESS)
