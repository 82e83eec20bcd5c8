"""Invitations of colleagues: sent, sent again, withdrawn, accepted."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.invitation import forget_email, queue_invitation
from applications.models import Invitation
from applications.operations.applicants import USERNAME_MAX, AccountExistsError
from applications.querysets import accounts_with, folded_address
from jobsite.accounts import roles
from jobsite.languages import site_language
from vacancies.access.brands import brands_of
from vacancies.models import Brand, Vacancy
from vacancies.operations.team import add_members
from vacancies.querysets import EVERY_BRAND


class NotAllowedError(Exception):
    """The author of the invitation may not give this role or these brands."""


def invitations_of(user: User) -> QuerySet[Invitation]:
    """Return the invitations that `user` could have sent:
    those are shown, sent again and withdrawn.
    """
    rows = Invitation.objects.filter(role__in=roles.grantable_by(user).order_by().values("pk"))
    invited: Any = Invitation._meta.get_field
    chosen, teams = (
        invited(name).remote_field.through._default_manager.filter(invitation=OuterRef("pk"))
        for name in ("brands", "vacancies")
    )
    if not user.has_perm("auth.add_user"):
        may = user.has_perm("vacancies.change_vacancy")
        rows = rows.filter(Exists(teams), role__name__in=roles.TEAM_ROLES) if may else rows.none()
        rows = rows.exclude(Exists(chosen))
    if user.has_perm(EVERY_BRAND):
        return rows
    foreign = chosen.exclude(brand__in=brands_of(user).order_by().values("pk"))
    others = teams.exclude(vacancy__in=Vacancy.objects.editable_by(user).order_by().values("pk"))
    some = rows.filter(Exists(chosen) | Exists(teams))
    return some.exclude(Exists(foreign) | Exists(others))


def invite(
    *,
    invitation: Invitation,
    brands: Iterable[Brand] = (),
    vacancies: Iterable[Vacancy] = (),
    base_url: str = "",
    at: datetime,
) -> Invitation:
    """Send `invitation`, which is new, to work for `brands` and in the teams of `vacancies`, and
    return it. Raise NotAllowedError.
    """
    author = invitation.author
    with transaction.atomic():
        invitation.sent_at = at
        invitation.save()
        invitation.brands.set(brands)
        invitation.vacancies.set(vacancies)
        _check(invitation)
        queue_invitation(invitation, base_url=base_url, at=at)
        _log(author, invitation, ADDITION)
    return invitation


def send_again(*, invitation: Invitation, author: User, base_url: str = "", at: datetime) -> None:
    """Send `invitation` with a new link, from `author`.
    Raise Invitation.DoesNotExist, NotAllowedError.
    """
    with transaction.atomic():
        row = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
        row.author, row.sent_at = author, at
        row.save(update_fields=["author", "sent_at"])
        _check(row)
        queue_invitation(row, base_url=base_url, at=at)
        _log(author, row, CHANGE)


def accept(
    *, invitation: Invitation, user: User | None = None, password: str | None = None, at: datetime
) -> User:
    """Give `user`, or a new account with `password`, the role, the brands and the teams of
    `invitation`, and delete it. Return the account. Without a password, it can only sign in by an
    identity provider. To be in a team, a colleague who may view applications needs no other role.

    Raise Invitation.DoesNotExist if it was accepted, withdrawn or sent again meanwhile,
    NotAllowedError if its author may not give the role any more, and AccountExistsError if there is
    an account with its address.
    """
    with transaction.atomic():
        rows = Invitation.objects.select_for_update(of=("self",)).select_related("author", "role")
        row = rows.get(pk=invitation.pk, sent_at=invitation.sent_at)
        _check(row)
        brands, vacancies = list(row.brands.all()), list(row.vacancies.all())
        keeps_role = False
        if user:
            user = User.objects.select_for_update().get(pk=user.pk)
            may_view = user.is_staff and user.has_perm("applications.view_application")
            keeps_role = bool(vacancies and may_view and not brands)
            if not keeps_role:
                _check_other_brands(row, user)
        else:
            user = _create(row, password, at)
        user.is_staff = True
        user.save(update_fields=["is_staff"])
        if not keeps_role:
            user.groups.add(row.role)
        user.brands.add(*brands)
        for vacancy in vacancies:
            add_members(vacancy=vacancy, users=[user], sees=row.sees, author=row.author, at=at)
        _log(row.author, row, CHANGE, user)
        _delete(row)
    return user


def withdraw_invitation(*, invitation: Invitation, author: User) -> None:
    """Delete `invitation`. Raise Invitation.DoesNotExist if it was accepted
    or withdrawn meanwhile.
    """
    with transaction.atomic():
        row = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
        _log(author, row, DELETION)
        _delete(row)


def _delete(row: Invitation) -> None:
    forget_email(row)
    row.delete()


def new_colleague(invitation: Invitation) -> User:
    """Return an unsaved account with the address of `invitation` as its user name."""
    names = {"first_name": invitation.first_name, "last_name": invitation.last_name}
    username = folded_address(invitation.email)[:USERNAME_MAX]
    return User(username=username, email=invitation.email, **names)


def _create(invitation: Invitation, password: str | None, at: datetime) -> User:
    user = new_colleague(invitation)
    user.set_password(password)  # None makes it unusable
    user.date_joined = at
    if accounts_with(user.email):
        raise AccountExistsError
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:  # another request created it meanwhile
        raise AccountExistsError from None
    return user


def _check(invitation: Invitation) -> None:
    # With the permissions that they have now.
    author = User.objects.filter(pk=invitation.author_id).first()
    if not (author and invitations_of(author).filter(pk=invitation.pk).exists()):
        raise NotAllowedError


def _check_other_brands(invitation: Invitation, user: User) -> None:
    """A role applies to all brands of `user`.
    Who does not work for all of these cannot give a higher one.
    """
    author = invitation.author
    if (
        author.has_perm(EVERY_BRAND)
        or roles.grantable_by(user).filter(pk=invitation.role_id).exists()
    ):
        return
    if (
        user.has_perm(EVERY_BRAND)
        or user.brands.exclude(pk__in=brands_of(author).values("pk")).exists()
    ):
        raise NotAllowedError


def _log(author: User, invitation: Invitation, flag: int, account: User | None = None) -> None:
    """Add an entry to the history of `account`, which accepted `invitation`, or else of
    `invitation`.
    """
    brands = ", ".join(map(str, invitation.brands.all())) or "-"
    with translation.override(site_language()):  # stored, and read by all users
        text = _("Invited. Role: %(role)s. Brands: %(brands)s.")
        if account:
            text = _("Accepted an invitation. Role: %(role)s. Brands: %(brands)s.")
        elif flag == DELETION:
            text = _("Withdrawn. Role: %(role)s. Brands: %(brands)s.")
        text %= {"role": roles.label(invitation.role), "brands": brands}
        if vacancies := ", ".join(map(str, invitation.vacancies.all())):
            text += " " + _("Vacancies: %(vacancies)s.") % {"vacancies": vacancies}
        LogEntry.objects.log_actions(author.pk, [account or invitation], flag, text)
