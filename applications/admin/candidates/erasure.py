"""Erasing a person: a page that lists the applications that are or may be theirs. What is ticked
there is deleted.
"""

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import ProtectedError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern
from django.utils.translation import gettext as _

from applications import privacy
from applications.admin.candidates.scope import CandidatePages, likely_people, own_applications
from applications.admin.page.duplicates import ROWS_MAX, Likely
from applications.models import Access, Application
from applications.operations.access_log import log_access
from jobsite.types import StrOrPromise, UserRequest
from vacancies.querysets import EVERY_BRAND

ERASE = "applications.delete_application"


def may_erase(user: User) -> bool:
    """A person has applications to other brands too."""
    return user.has_perm(ERASE) and user.has_perm(EVERY_BRAND)


@dataclass(frozen=True)
class Listed:
    """What the page lists: the applications of the person, and those that are `likely` theirs."""

    application: Application
    people: list[Application]
    likely: list[Likely]

    @cached_property
    def pks(self) -> list[int]:
        return [each.pk for each in (*self.people, *(each.application for each in self.likely))]

    @property
    def seen(self) -> str:
        return ",".join(map(str, self.pks))

    @property
    def accounts(self) -> list[User]:
        found = {each.user.pk: each.user for each in self.people if each.user}
        return [found[pk] for pk in sorted(found)]


@dataclass(frozen=True)
class Ticked:
    applications: set[int]
    accounts: set[int]


class ErasurePages(CandidatePages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"erase": self.erase_view})

    def erase_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET lists what can be deleted; POST deletes what is ticked, if the list is still the
        same.
        """
        if not may_erase(request.user):
            raise PermissionDenied
        application = self.application_or_404(request, object_id, ERASE)
        people = _people(request.user, application)
        listed = Listed(application, people, likely_people(request.user, people))
        is_same = request.POST.get("seen") == listed.seen
        ticked = _posted(request, listed) if is_same else _certain(listed)
        error: StrOrPromise = ""
        if request.method != "POST":
            log_access(request.user, Access.VIEW, *listed.pks)
        elif not (error := _unconfirmed(request, is_same, ticked)):
            error, text = _erase(request.user, listed, ticked)
            if text:
                self.message(request, text, messages.SUCCESS)
                return redirect("admin:applications_application_changelist")
        context = {
            **self.context(request, _("Erase this person")),
            "media": self.admin.media,
            "application": application,
            "listed": listed,
            "ticked": ticked,
            "is_shortened": len(listed.likely) == ROWS_MAX,
            "is_proven": bool(application.user or application.verified_at or not application.email),
            "error": error,
            "back": self.page_of(request, application),
        }
        template = "admin/applications/application/candidates/erase.html"
        response = render(request, template, context, status=422 if error else 200)
        response["Cache-Control"] = "private, no-store"
        return response


def _people(user: User, application: Application) -> list[Application]:
    """Return the applications of the person, the newest first. The address of an account shows this
    only if the applicant proved it: others can apply with any address.
    """
    key = copy(application)
    if application.user_id and not application.verified_at:
        key.email_folded = ""
    rows = own_applications(user).of_person(key).with_stage()
    return list(rows.select_related("user", "vacancy__brand").newest_first())


def _certain(listed: Listed) -> Ticked:
    account = listed.application.user_id
    return Ticked({each.pk for each in listed.people}, {account} if account else set())


def _posted(request: UserRequest, listed: Listed) -> Ticked:
    def chosen(name: str, of: Collection[int]) -> set[int]:
        sent = request.POST.getlist(name)
        return {pk for pk in of if str(pk) in sent}

    accounts = [each.pk for each in listed.accounts]
    return Ticked(chosen("application", listed.pks), chosen("account", accounts))


def _unconfirmed(request: UserRequest, is_same: bool, ticked: Ticked) -> StrOrPromise:
    """Return why the posted form deletes nothing, "" if it does."""
    if not is_same:
        return _("Other applications were added or deleted in the meantime. Read the list again.")
    if not ticked.applications:
        return _("Tick at least one application.")
    rest = Application.objects.filter(user__in=ticked.accounts)
    if rest.exclude(pk__in=ticked.applications).exists():
        return _("An account is erased with all of its applications: tick them, or no account.")
    return "" if "confirmed" in request.POST else _("Tick the box to confirm.")


def _erase(actor: User, listed: Listed, ticked: Ticked) -> tuple[str, str]:
    """Erase what is ticked. Return why it was not possible, or what was deleted."""
    accounts = [each for each in listed.accounts if each.pk in ticked.accounts]
    try:
        with transaction.atomic():
            log_access(actor, Access.ERASE, *sorted(ticked.applications))
            counts = privacy.erase_chosen(applications=ticked.applications, accounts=accounts)
    except privacy.StaffAccountError:
        return _("This is a staff account. Remove its staff status first, or keep it."), ""
    except privacy.NoSuchAccountError:
        return _("The account was deleted in the meantime."), ""
    except ProtectedError:
        return _("Other rows refer to this account. Nothing was deleted."), ""
    except OSError:
        return _("The log of erasures cannot be written. Nothing was deleted."), ""
    text = _(
        "Erased. Applications: %(applications)d, files: %(files)d, notes: %(notes)d, emails: "
        "%(emails)d, job alerts: %(job_alerts)d, accounts: %(accounts)d."
    )
    return "", text % {kind: counts[kind] for kind in privacy.KINDS}
