"""Which applications the pages of candidates show. A candidate is no row: it is a query."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from applications.access import sees_whole
from applications.admin.page.duplicates import Likely, likely_to_be_same
from applications.admin.parts import CHANGE, ApplicationPages
from applications.models import Application, SubmissionFile
from applications.querysets import ApplicationQuerySet
from jobsite.admin.base import as_id
from jobsite.types import UserRequest


def own_applications(user: User) -> ApplicationQuerySet:
    """Return the applications that pages of candidates show `user`: those that `user` may see. Who
    only judges sees no candidates (applications/access.py).
    """
    rows: ApplicationQuerySet = Application.objects.visible_to(user)
    return rows if sees_whole(user) else rows.none()


def may_see_candidates(request: HttpRequest) -> bool:
    user: Any = request.user
    return user.has_perm("applications.view_application") and sees_whole(user)


def likely_people(user: User, people: Collection[Application]) -> list[Likely]:
    """Return the applications that are likely of the person of `people`, but not known to be."""
    known = Application.objects.filter(pk__in=[each.pk for each in people])
    files = SubmissionFile.objects.filter(submission__application__in=known).order_by()
    hashes = list(files.values_list("sha256", flat=True).distinct())
    return likely_to_be_same(user, people, hashes, known)


def candidate_links(request: UserRequest, application: Application) -> dict[str, bool]:
    """Return whether the page of `application` links to its candidate, and offers to join it."""
    may_see = own_applications(request.user).filter(pk=application.pk).exists()
    return {"may_see_candidate": may_see, "may_join": may_see and request.user.has_perm(CHANGE)}


class CandidatePages(ApplicationPages):
    """Pages of the person of an application."""

    def application_or_404(
        self, request: UserRequest, object_id: str, permission: str
    ) -> Application:
        application = super().application_or_404(request, object_id, permission)
        get_object_or_404(own_applications(request.user), pk=as_id(object_id))
        return application
