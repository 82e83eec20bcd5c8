"""What a colleague sees of an application that they may see (docs/decisions.md #54). Which ones
these are says `ApplicationQuerySet.visible_to`.
"""

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q

from applications.models import Application, Scorecard, Stage
from applications.querysets import ApplicationQuerySet
from vacancies.querysets import EVERY_BRAND, teams_of

WHOLE = ("applications.change_application", "vacancies.view_vacancy", EVERY_BRAND)


def sees_whole(user: User) -> bool:
    """Return whether `user` sees all that is stored about applications. Others, such as hiring
    managers and clients, only judge: they see answers, files, stage, interviews, their scorecards
    and what is meant for the team. A page shows them nothing unless it was written for them.
    """
    return any(map(user.has_perm, WHOLE))


def readable_notes(user: User) -> Q:
    """The condition on the notes of an application that `user` may see."""
    return Q() if sees_whole(user) else Q(is_for_team=True) | Q(author=user)


def waiting_for(user: User) -> ApplicationQuerySet:
    """Return the undecided applications about which `user` has sent no scorecard: those of their
    teams, and for who only judges, all that they may see.
    """
    open_stages = Stage.objects.filter(kind=Stage.Kind.OPEN).values_list("pk", flat=True)
    sent = Scorecard.objects.filter(application=OuterRef("pk"), author=user, sent_at__isnull=False)
    rows: ApplicationQuerySet = Application.objects.visible_to(user).filter(withdrawn_at=None)
    if sees_whole(user):
        rows = rows.filter(vacancy__in=list(teams_of(user)))
    return rows.with_stage().filter(stage_id__in=list(open_stages)).exclude(Exists(sent))
