"""Invitations on the pages of users:
the form, the list of open invitations, send again, withdraw.
"""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext

from applications.models import Invitation, Message
from applications.operations import invitations as operations
from jobsite.accounts import roles
from jobsite.admin.pages import AdminPages
from jobsite.api.absolute_urls import base_url
from jobsite.api.throttling import RateLimit
from jobsite.office.user_forms import InviteForm
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest


class InvitationPages(AdminPages):
    """Colleagues are invited instead of added.
    Superusers can still add an account, as for a program.
    """

    def urls(self) -> list[URLPattern]:
        return [
            self.url("invitations/<int:pk>/send-again/", self.send_again_view, "send_again"),
            self.url("invitations/<int:pk>/withdraw/", self.withdraw_view, "withdraw"),
        ]

    def invite_view(self, request: UserRequest) -> HttpResponse:
        if not self.admin.has_add_permission(request):
            raise PermissionDenied
        form = InviteForm(request, request.POST if request.method == "POST" else None)
        if form.is_valid() and self._invite(request, form):
            return redirect("admin:auth_user_changelist")
        title = gettext("Invite a colleague")
        context = self.context(request, title, form=form, days=Invitation.MAX_AGE.days)
        return TemplateResponse(request, "admin/auth/user/invite.html", context)

    def _invite(self, request: UserRequest, form: InviteForm) -> bool:
        address = form.cleaned_data["email"]
        if not is_within_rate(request, address):
            form.add_error("email", too_many())
            return False
        data = dict(form.cleaned_data)
        brands = data.pop("brands")
        invitation = Invitation(**data, author=request.user)
        operations.invite(
            invitation=invitation, brands=brands, base_url=base_url(request), at=timezone.now()
        )
        text = gettext("The invitation is sent to %(address)s.") % {"address": address}
        self.admin.message_user(request, text, messages.SUCCESS)
        return True

    def send_again_view(self, request: UserRequest, pk: int) -> HttpResponse:
        def send(invitation: Invitation) -> str:
            if not is_within_rate(request, invitation.email):
                messages.error(request, too_many())
                return ""
            operations.send_again(
                invitation=invitation,
                author=request.user,
                base_url=base_url(request),
                at=timezone.now(),
            )
            return gettext(
                "The invitation is sent again. The link in the earlier email no longer works."
            )

        return self._change(request, pk, send)

    def withdraw_view(self, request: UserRequest, pk: int) -> HttpResponse:
        def withdraw(invitation: Invitation) -> str:
            operations.withdraw_invitation(invitation=invitation, author=request.user)
            return gettext("The invitation is withdrawn. Its link no longer works.")

        return self._change(request, pk, withdraw)

    def _change(
        self, request: UserRequest, pk: int, operation: Callable[[Invitation], str]
    ) -> HttpResponse:
        """Run `operation` with the invitation `pk`, and show its message in the list."""
        if not self.admin.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        invitation = get_object_or_404(operations.invitations_of(request.user), pk=pk)
        try:
            text = operation(invitation)
        except Invitation.DoesNotExist:
            messages.warning(
                request, gettext("The invitation was accepted or withdrawn in the meantime.")
            )
        else:
            if text:
                messages.success(request, text)
        return redirect("admin:auth_user_changelist")


def open_invitations(request: UserRequest) -> list[dict[str, object]]:
    """Return the invitations that the user could have sent, for the list."""
    now = timezone.now()
    rows = operations.invitations_of(request.user).select_related("role", "message")
    return [
        {
            "pk": row.pk,
            "email": row.email,
            "name": row.name,
            "role": roles.label(row.role),
            "brands": ", ".join(map(str, [*row.brands.all(), *row.vacancies.all()])),
            "state": state_of(row, row.is_expired(at=now)),
        }
        for row in rows.prefetch_related("brands", "vacancies")
    ]


def state_of(invitation: Invitation, is_expired: bool) -> str:
    message = invitation.message
    if message and message.state == Message.State.FAILED:
        return gettext("Email failed: %(reason)s") % {"reason": gettext(message.error)}
    values = {"time": format_datetime(invitation.expires_at)}
    if is_expired:
        return gettext("Expired on %(time)s") % values
    if message and message.state in Message.WAITING:
        return gettext("Email queued, valid until %(time)s") % values
    return gettext("Invited, valid until %(time)s") % values


def is_within_rate(request: UserRequest, address: str) -> bool:
    """Count an email to `address`, so that nobody can fill a mailbox."""
    rate = RateLimit(settings.RESET_MAIL_RATE)
    return rate.allow(f"invitation-{request.user.pk}-{address.casefold()}")


def too_many() -> str:
    return gettext("You sent several invitations to this address. Try again in an hour.")
