"""Erasing a person from the page of an application:
a page that lists what is deleted, and a confirmation.
"""

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import ProtectedError, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern
from django.utils.translation import gettext as _

from applications import privacy
from applications.admin.parts import ApplicationPages
from applications.models import Access, Application
from applications.operations.access_log import log_access
from applications.querysets import folded_address
from jobsite.types import StrOrPromise, UserRequest
from vacancies.querysets import EVERY_BRAND

ERASE = "applications.delete_application"


def may_erase(user: User) -> bool:
    """A person has applications to other brands too."""
    return user.has_perm(ERASE) and user.has_perm(EVERY_BRAND)


class ErasurePages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"erase": self.erase_view})

    def erase_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET lists what is deleted with the applicant;
        POST deletes it, if the list is still the same.
        """
        if not may_erase(request.user):
            raise PermissionDenied
        application = self.application_or_404(request, object_id, ERASE)
        user = application.user
        if not (user or application.email):
            return self._nobody(request, application)
        # Of an account, its address only if the applicant proved it: others can apply with any
        # address.
        address = application.email if application.verified_at or not user else ""
        rows = _applications_of(user, address)
        seen = ",".join(str(row.pk) for row in rows)
        error: StrOrPromise = ""
        if request.method != "POST":
            log_access(request.user, Access.VIEW, *(row.pk for row in rows))
        elif not (
            error := _unconfirmed(request, seen) or _erase(request.user, user, address, rows)
        ):
            self.message(request, _("The person was erased."), messages.SUCCESS)
            return redirect("admin:applications_application_changelist")
        context = {
            **self.context(request, _("Erase this person")),
            "application": application,
            "account": user,
            "address": address,
            "is_proven": bool(user or application.verified_at),
            "people": rows,
            "seen": seen,
            "error": error,
            "others": 0 if address else Application.objects.unclaimed(application.email).count(),
            "back": self.page_of(request, application),
        }
        template = "admin/applications/application/page/erase.html"
        response = render(request, template, context, status=422 if error else 200)
        response["Cache-Control"] = "private, no-store"
        return response

    def _nobody(self, request: UserRequest, application: Application) -> HttpResponse:
        text = _(
            "This application has neither an account nor an e-mail address: nobody can be erased."
        )
        self.message(request, text, messages.WARNING)
        return self.back(request, application, "")


def _applications_of(user: User | None, address: str) -> list[Application]:
    """Return the applications of the account, and those from the address, the newest first."""
    own = Q(email_folded=folded_address(address)) if address else Q(pk__in=[])
    wanted = own | Q(user=user) if user else own
    return list(Application.objects.filter(wanted).select_related("user", "vacancy").newest_first())


def _unconfirmed(request: UserRequest, seen: str) -> StrOrPromise:
    """Return why the posted form deletes nothing, "" if it confirms the list `seen`."""
    if request.POST.get("seen") != seen:
        return _("Other applications were added or deleted in the meantime. Read the list again.")
    return "" if "confirmed" in request.POST else _("Tick the box to confirm.")


def _erase(actor: User, user: User | None, address: str, rows: list[Application]) -> str:
    """Erase the person as `manage.py erase_applicant` does.
    Return why it was not possible, "" if it was.
    """
    try:
        with transaction.atomic():
            log_access(actor, Access.ERASE, *(row.pk for row in rows))
            privacy.erase(user=user, address=address)
    except privacy.StaffAccountError:
        return _("This is a staff account. Remove its staff status first.")
    except privacy.NoSuchAccountError:
        return _("The account was deleted in the meantime.")
    except ProtectedError:
        return _("Other rows refer to this account. Nothing was deleted.")
    except OSError:
        return _("The log of erasures cannot be written. Nothing was deleted.")
    return ""
