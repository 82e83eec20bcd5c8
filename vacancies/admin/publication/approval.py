"""Requests for approval in the admin, and the page where a colleague decides."""

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.admin.publication.public_changes import public_changes
from vacancies.history.diff import Difference, differences, field_labels
from vacancies.history.versions import PUBLICATION, read_content
from vacancies.models import APPROVE, Approval, Vacancy
from vacancies.models.approval import PUBLIC
from vacancies.operations.approval_decisions import approve, fingerprint
from vacancies.operations.approval_requests import (
    names_of_authors,
    send_back,
    waiting_request,
    why_not_decide,
    withdraw_request,
)
from vacancies.quality.warnings import content_warnings, with_warnings
from vacancies.querysets import own_brand


class DecisionForm(forms.Form):
    note = forms.CharField(
        label=gettext_lazy("Note"),
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=gettext_lazy("Required to send the vacancy back: write what has to change."),
    )


def request_texts(approval: Approval) -> dict[str, object]:
    """Return a request as texts for a page."""
    return {
        "approval": approval,
        "has_texts": bool(set(approval.changes) - set(PUBLICATION)),
        "submitted_by": names_of_authors(approval),
        "submitted_at": format_datetime(approval.submitted_at),
        "decided_by": person(approval.decided_by) if approval.decided_by else _("a former user"),
        "decided_at": format_datetime(approval.decided_at) if approval.decided_at else "",
    }


def requests_about(user: User, object_id: str) -> list[dict[str, object]]:
    """Return the requests about a vacancy that `user` may see, with their differences, for its
    history.
    """
    rows = Approval.objects.filter(own_brand(user), vacancy__in=[as_id(object_id)])
    found = list(rows.select_related("submitted_by", "decided_by"))
    labels = field_labels() if found else {}
    return [
        request_texts(approval) | {"differences": differences({}, approval.changes, labels)}
        for approval in found
    ]


def last_request(user: User, vacancy: Vacancy) -> dict[str, object]:
    """Return the last request about `vacancy` as context of its form; nothing without one."""
    rows = Approval.objects.filter(own_brand(user), vacancy=vacancy.pk)
    approval = rows.select_related("submitted_by", "decided_by").first()
    return {"approval_request": request_texts(approval)} if approval else {}


class ApprovalPages(AdminPages):
    """The page of the request that waits for approval."""

    def urls(self) -> list[URLPattern]:
        return [self.url("<path:object_id>/approval/", self.approval_view, "approval")]

    def approval_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Show what a request changes. POST approves it, sends it back or withdraws it."""
        vacancy = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        if not self.admin.has_view_permission(request, vacancy):
            raise PermissionDenied
        back = redirect("admin:vacancies_vacancy_change", vacancy.pk)
        approval = waiting_request(vacancy)
        if approval is None:
            self.admin.message_user(request, _("No request waits for approval."), messages.INFO)
            return back
        form = DecisionForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                self._decide(request, vacancy, form.cleaned_data["note"])
                return back
            except ValidationError as error:
                form.add_error(None, error.messages)  # type: ignore[arg-type]
        context = {
            **self.context(request, _("Approval: %(vacancy)s") % {"vacancy": vacancy}),
            **request_texts(approval),
            "original": vacancy,
            "form": form,
            "seen": fingerprint(vacancy, approval),
            "media": self.admin.media + form.media,
            "why_not": why_not_decide(approval, request.user),
            "may_withdraw": self.admin.has_change_permission(request, vacancy),
            "warnings": [
                warning.text
                for warning in content_warnings(
                    with_warnings(Vacancy.objects.filter(pk=vacancy.pk), at=timezone.now()).get()
                )
            ],
            **self._shown(vacancy, approval, request.user),
        }
        return TemplateResponse(
            request, "admin/vacancies/vacancy/publication/approval.html", context
        )

    def _shown(self, vacancy: Vacancy, approval: Approval, user: User) -> dict[str, object]:
        """Return what becomes public:
        the changes of a public vacancy, or the whole of another one.
        """
        now = read_content(vacancy)
        requested: list[Difference] = differences(now, now | approval.changes)
        if vacancy.state in PUBLIC:
            return {"was_public": True, "changes": requested}
        shown = public_changes(vacancy, user)
        dates = [each for each in requested if each.name != "status"]
        return shown | {"dates": dates, "publish_from": approval.changes.get("publish_from")}

    def _decide(self, request: UserRequest, vacancy: Vacancy, note: str) -> None:
        """Do what the pressed button says. Raises ValidationError."""
        at, user = timezone.now(), request.user
        if "withdraw" in request.POST:
            if not self.admin.has_change_permission(request, vacancy):
                raise PermissionDenied
            withdraw_request(vacancy=vacancy, at=at, author=user)
            text = _("The request was withdrawn.")
        elif not request.user.has_perm(APPROVE):
            raise PermissionDenied
        elif "send_back" in request.POST:
            send_back(vacancy=vacancy, note=note, at=at, author=user)
            text = _("The vacancy was sent back.")
        elif "approve" in request.POST:
            seen = request.POST.get("seen", "")
            _approval, missing = approve(vacancy=vacancy, seen=seen, note=note, at=at, author=user)
            text = _("The request was approved.")
            if missing:
                names = _("Not applied because they no longer exist: %(names)s.")
                self.admin.message_user(
                    request, names % {"names": ", ".join(missing)}, messages.WARNING
                )
        else:
            raise ValidationError(_("Choose what to do with the request."))
        self.admin.message_user(request, text, messages.SUCCESS)
