"""What applicants do themselves: prove that a mailbox is theirs, claim applications, withdraw.

Locks are taken in the order of erasures: the account, then applications by number.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from applications.mail.outbox import cancel_unseen
from applications.mail.receipt import queue_withdrawal
from applications.models import Application, Stage
from applications.operations.interviews import cancel_upcoming
from applications.operations.stages import Move, move
from applications.querysets import accounts_with, folded_address

USERNAME_MAX = User._meta.get_field("username").max_length or 0


class DecidedError(Exception):
    """The applicant has seen a result, so there is nothing left to withdraw."""


class AccountExistsError(Exception):
    """There is an account with this address already."""


def verify(*, application: Application, at: datetime) -> None:
    """Record that a person used the link of `application`, which proves that its mailbox exists and
    that its owner received the link. The first time is kept.
    """
    if application.verified_at is None:
        Application.objects.filter(pk=application.pk, verified_at=None).update(verified_at=at)


def claim(*, proven: Application, user: User, at: datetime) -> list[int]:
    """Give `user` all applications without an account from the address of `proven`, whose link was
    opened. Return their ids. Applications of another account are never taken from it. Raise
    User.DoesNotExist if the account was deleted meanwhile.
    """
    with transaction.atomic():
        user = User._default_manager.select_for_update().get(pk=user.pk)
        rows = Application.objects.unclaimed(proven.email_folded).order_by("pk").select_for_update()
        pks = list(rows.values_list("pk", flat=True))
        claimed = Application.objects.filter(pk__in=pks)
        claimed.update(user=user, verified_at=Coalesce(F("verified_at"), at))
    return pks


def new_account(proven: Application) -> User | None:
    """Return an unsaved account with the address of `proven` as its user name;
    None if it is too long.
    """
    username = folded_address(proven.email)
    if not username or len(username) > USERNAME_MAX:
        return None
    names = {"first_name": proven.given_name[:150], "last_name": proven.family_name[:150]}
    return User(username=username, email=proven.email, **names)


def create_account(*, proven: Application, password: str, at: datetime) -> User:
    """Create an account with the address of `proven`, whose link was opened, and claim its
    applications. Return the account. Raise AccountExistsError, or ValueError if `new_account`
    returns None.
    """
    user = new_account(proven)
    if user is None:
        raise ValueError("The address is too long for a user name.")
    user.set_password(password)
    user.date_joined = at
    try:
        with transaction.atomic():
            if accounts_with(user.email):
                raise AccountExistsError
            user.save()
            claim(proven=proven, user=user, at=at)
    except IntegrityError:  # another request created it meanwhile
        raise AccountExistsError from None
    return user


def withdraw_application(*, application: Application, base_url: str = "", at: datetime) -> bool:
    """Withdraw `application` for its applicant, and queue a confirmation. Return False if it was
    withdrawn before. Raise DecidedError, or Application.DoesNotExist if it was erased meanwhile.
    """
    with transaction.atomic():
        Application.objects.select_for_update().get(pk=application.pk)
        # A second statement: it reads what another transaction wrote before this one had the lock.
        current = Application.objects.with_visible_status().get(pk=application.pk)
        if not current.is_withdrawable(at=at):
            known = current.visible_stage(at=at)
            if current.withdrawn_at or (known and known.kind == Stage.Kind.WITHDRAWN):
                return False
            raise DecidedError
        if stage := Stage.objects.filter(kind=Stage.Kind.WITHDRAWN).first():
            one = Application.objects.filter(pk=current.pk)
            move(one, Move(stage=stage, author=None, at=at, is_known=True))
        current.withdrawn_at = current.updated_at = at
        current.save(update_fields=["withdrawn_at", "updated_at"])
        cancel_unseen([current.pk], at=at)
        cancel_upcoming([current.pk], author=None, base_url=base_url, at=at)
        if current.address:
            queue_withdrawal(application=current, base_url=base_url, at=at)
    return True
