"""The page *Team* of a vacancy: who may see its applications beside the members of the brand."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
)

from applications.models import Invitation
from applications.operations import invitations
from applications.operations.applicants import USERNAME_MAX
from applications.querysets import with_permission
from jobsite.accounts import roles
from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.api.absolute_urls import base_url
from jobsite.fields import PastedEmailField
from jobsite.languages import LANGUAGES, site_language
from jobsite.office.invitations import is_within_rate, state_of, too_many
from jobsite.office.user_forms import RoleField
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.access.brands import colleagues_of
from vacancies.models import TeamMember, Vacancy
from vacancies.operations.team import add_members, log_of, remove_member

Sees = TeamMember.Sees
CLIENT = "Client"
LOG_MAX = 20


class TeamColleagueField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return person(obj)


def colleagues_for(user: User, vacancy: Vacancy) -> QuerySet[User]:
    """Return who can be added to the team: colleagues of `user`, and members of teams that `user`
    may change, who may view applications.
    """
    teams = TeamMember.objects.filter(vacancy__in=Vacancy.objects.editable_by(user).values("pk"))
    known = Q(pk__in=colleagues_of(user).values("pk")) | Q(pk__in=teams.values("user"))
    rows = with_permission("applications.view_application").filter(known)
    rows = rows.exclude(pk__in=vacancy.team.values("user"))
    return rows.order_by("first_name", "last_name", "username")


class TeamAddForm(forms.Form):
    colleague = TeamColleagueField(
        User.objects.none(), label=_("Colleague"), widget=UnfoldAdminSelectWidget
    )
    sees = forms.ChoiceField(
        label=_("Sees"),
        choices=Sees.choices,
        initial=Sees.ALL,
        widget=UnfoldAdminRadioSelectWidget(radio_style=1),
    )

    def __init__(self, data: QueryDict | None = None, *, colleagues: QuerySet[User]) -> None:
        super().__init__(data)
        field: Any = self.fields["colleague"]
        field.queryset = colleagues


class TeamInviteForm(forms.Form):
    email = PastedEmailField(
        label=_("E-mail address"), max_length=USERNAME_MAX, widget=UnfoldAdminEmailInputWidget
    )
    role = RoleField(
        Group.objects.none(),
        label=_("Role"),
        empty_label=None,
        widget=UnfoldAdminRadioSelectWidget,
        help_text=_("Who has an account already keeps the role that they have."),
    )
    language = forms.ChoiceField(
        label=_("Language of the email"),
        choices=[(code, _(name)) for code, name in LANGUAGES.items()],
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, data: QueryDict | None = None, *, user: User) -> None:
        super().__init__(data, initial={"language": get_language() or site_language()})
        field: Any = self.fields["role"]
        field.queryset = (
            roles.grantable_by(user).filter(name__in=roles.TEAM_ROLES).order_by("-name")
        )
        field.initial = field.queryset.first()


class TeamPages(AdminPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"team": self.team_view})

    def team_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Show the team. POST adds a colleague (`add`), invites an address (`invite`), removes a
        member (`remove`), sends an invitation `again`, or takes it back (`withdraw`).
        """
        vacancy = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        if not self.admin.has_change_permission(request, vacancy):
            raise PermissionDenied
        data = request.POST if request.method == "POST" else None
        colleagues = colleagues_for(request.user, vacancy)
        adding = TeamAddForm(data if data and "add" in data else None, colleagues=colleagues)
        inviting = TeamInviteForm(data if data and "invite" in data else None, user=request.user)
        if data is not None:
            if "remove" in data:
                self._remove(request, vacancy)
            elif "again" in data or "withdraw" in data:
                self._change_invitation(request, vacancy)
            elif adding.is_valid():
                chosen = adding.cleaned_data
                self._add(request, vacancy, chosen["colleague"], chosen["sees"])
            elif not (inviting.is_valid() and self._invite(request, vacancy, inviting)):
                return self._page(request, vacancy, adding, inviting)
            return redirect(self._address(request, vacancy))
        return self._page(request, vacancy, adding, inviting)

    def _address(self, request: UserRequest, vacancy: Vacancy) -> str:
        """Return the page to go to: that of the interview from which the user came, or this one."""
        if (number := as_id(request.GET.get("application"))) is not None:
            return reverse("admin:applications_application_interview", args=[number])
        return reverse("admin:vacancies_vacancy_team", args=[vacancy.pk])

    def _add(self, request: UserRequest, vacancy: Vacancy, user: User, sees: str) -> None:
        now = timezone.now()
        add_members(vacancy=vacancy, users=[user], sees=sees, author=request.user, at=now)
        text = gettext("%(name)s is in the team.") % {"name": person(user)}
        self.admin.message_user(request, text, messages.SUCCESS)

    def _invite(self, request: UserRequest, vacancy: Vacancy, form: TeamInviteForm) -> bool:
        data = dict(form.cleaned_data)
        address, role = data["email"], data["role"]
        sees = Sees.PRESENTED if role.name == CLIENT else Sees.ALL
        known = colleagues_for(request.user, vacancy).filter(email__iexact=address).first()
        if known:  # an account that the user sees in the other form
            self._add(request, vacancy, known, sees)
            return True
        if not is_within_rate(request, address):
            form.add_error("email", too_many())
            return False
        invitations.invite(
            invitation=Invitation(**data, sees=sees, author=request.user),
            vacancies=[vacancy],
            base_url=base_url(request),
            at=timezone.now(),
        )
        text = gettext("The invitation is sent to %(address)s.") % {"address": address}
        self.admin.message_user(request, text, messages.SUCCESS)
        return True

    def _remove(self, request: UserRequest, vacancy: Vacancy) -> None:
        rows = vacancy.team.select_related("user", "vacancy")
        member = get_object_or_404(rows, pk=as_id(request.POST["remove"]))
        remove_member(member=member, author=request.user)
        text = gettext("%(name)s is no longer in the team.") % {"name": person(member.user)}
        self.admin.message_user(request, text, messages.SUCCESS)

    def _change_invitation(self, request: UserRequest, vacancy: Vacancy) -> None:
        rows = invitations.invitations_of(request.user).filter(vacancies=vacancy)
        number = request.POST.get("again") or request.POST.get("withdraw")
        invitation = get_object_or_404(rows, pk=as_id(number))
        if "withdraw" in request.POST:
            invitations.withdraw_invitation(invitation=invitation, author=request.user)
            text = gettext("The invitation is withdrawn. Its link no longer works.")
        elif not is_within_rate(request, invitation.email):
            self.admin.message_user(request, too_many(), messages.ERROR)
            return
        else:
            invitations.send_again(
                invitation=invitation,
                author=request.user,
                base_url=base_url(request),
                at=timezone.now(),
            )
            text = gettext(
                "The invitation is sent again. The link in the earlier email no longer works."
            )
        self.admin.message_user(request, text, messages.SUCCESS)

    def _page(
        self, request: UserRequest, vacancy: Vacancy, adding: TeamAddForm, inviting: TeamInviteForm
    ) -> HttpResponse:
        now = timezone.now()
        invited = invitations.invitations_of(request.user).filter(vacancies=vacancy)
        readers = set(with_permission("applications.view_application").values_list("pk", flat=True))
        members = vacancy.team.select_related("user").prefetch_related("user__groups")
        context = self.context(
            request,
            gettext("Team of %(vacancy)s") % {"vacancy": vacancy},
            media=self.admin.media,
            original=vacancy,
            members=[
                {
                    "pk": each.pk,
                    "name": person(each.user),
                    "roles": ", ".join(map(roles.label, each.user.groups.all())),
                    "sees": each.get_sees_display(),
                    "is_lost": each.user_id not in readers,
                }
                for each in members
            ],
            invitations=[
                {
                    "pk": each.pk,
                    "email": each.email,
                    "role": roles.label(each.role),
                    "state": state_of(each, each.is_expired(at=now)),
                }
                for each in invited.select_related("role", "message")
            ],
            log=[
                {
                    "at": format_datetime(each.action_time),
                    "who": person(each.user),
                    "text": each.get_change_message(),
                }
                for each in log_of(vacancy)[:LOG_MAX]
            ],
            adding=adding,
            inviting=inviting,
            client=getattr(getattr(vacancy, "requisition", None), "client", ""),
            back=reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
            if "application" not in request.GET
            else self._address(request, vacancy),
        )
        has_errors = adding.errors or inviting.errors
        template = "admin/vacancies/vacancy/team.html"
        return TemplateResponse(request, template, context, status=422 if has_errors else 200)
