"""Which emails colleagues receive, and in which language."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from applications.models import EmailLanguage, EmailOptOut, Message
from jobsite.languages import site_language
from vacancies.models import APPROVE, Vacancy

Kind = Message.Kind
# By kind: the permission that it needs, and what it tells. Users can switch off these kinds.
KINDS: dict[Kind, tuple[str, Promise | str]] = {
    Kind.DIGEST: (
        "applications.view_application",
        _(
            "Every morning: how many applications are new for each vacancy of your brands, if "
            "any are new."
        ),
    ),
    Kind.MENTION: ("applications.view_application", _("A colleague mentions you in a note.")),
    Kind.SCORECARD: (
        "applications.add_scorecard",
        _("An interview that you took part in is over."),
    ),
    Kind.OPINION: (
        "applications.add_scorecard",
        _("Every morning: applications of your teams that wait for your opinion, if any are new."),
    ),
    Kind.INTERVIEW: (
        "applications.view_application",
        _(
            "A colleague invites you to an interview, changes or cancels it, or somebody "
            "declines yours."
        ),
    ),
    Kind.REMINDER: (
        "applications.view_application",
        _("A day before an interview that you take part in."),
    ),
    Kind.CLOSING: (
        "vacancies.view_vacancy",
        _("A vacancy that you worked on closes within a week. Once for each closing date."),
    ),
    Kind.APPROVAL: (APPROVE, _("A colleague submits a vacancy for your approval.")),
    Kind.STALE: (
        "applications.view_application",
        _(
            "On Mondays: how many applications wait too long in their stage, of those assigned to "
            "you; with the daily digest, also of those assigned to nobody."
        ),
    ),
    Kind.CONSENT: (
        "applications.view_application",
        _("An applicant whom you added and who was hired refuses the consent."),
    ),
    Kind.WEBHOOK: (
        "vacancies.view_webhook",
        _("The receiver of a webhook that you own cannot be reached any more."),
    ),
    Kind.DECISION: (
        "vacancies.change_vacancy",
        _("A vacancy that you submitted for approval is approved or sent back."),
    ),
}


def recipients_of(kind: Kind) -> QuerySet[User]:
    """Return the active colleagues with an e-mail address who have not switched off `kind`. Whether
    they have the permission remains to be checked.
    """
    users = get_user_model().objects.filter(is_active=True, is_staff=True).exclude(email="")
    return users.exclude(pk__in=EmailOptOut.objects.filter(kind=kind).values("user"))


def may_receive(user: User, kind: Kind) -> bool:
    """Return whether `user` has the permission for what emails of `kind` tell."""
    return user.has_perm(KINDS[kind][0])


def may_have_calendar(user: User) -> bool:
    """Return whether `user` may subscribe to their interviews."""
    return user.is_active and user.is_staff and user.has_perm("applications.view_application")


def may_still_read(message: Message) -> bool:
    """Return whether the colleague that `message` is for has the account, the permission and the
    vacancies that it had when the email was queued. Whoever has no account is not asked.
    """
    user = message.recipient
    if user is None:
        return True
    if not (user.is_active and user.is_staff and may_receive(user, Kind(message.kind))):
        return False
    own = Vacancy.objects.reachable_by(user).order_by()
    named = Vacancy.objects.filter(pk__in=message.vacancies)
    return not named.exclude(pk__in=own.values("pk")).exists()


def language_of(user: User) -> str:
    """Return the language in which `user` receives emails."""
    chosen = EmailLanguage.objects.filter(user=user).values_list("language", flat=True).first()
    return chosen or site_language()
