"""The page where users choose which emails they receive, and in which language."""

from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from applications.mail.preferences import KINDS, language_of, may_have_calendar, may_receive
from applications.models import EmailLanguage, EmailOptOut
from jobsite.languages import LANGUAGES
from jobsite.types import UserRequest


def may_open(request: UserRequest) -> bool:
    """Return whether there are emails that the user could receive. Also for the menu."""
    return any(may_receive(request.user, kind) for kind in KINDS)


def my_emails(request: UserRequest) -> HttpResponse:
    """Show and change the emails that the user receives."""
    if not may_open(request):
        raise PermissionDenied
    user = request.user
    offered = [kind for kind in KINDS if may_receive(user, kind)]
    if request.method == "POST":
        language = request.POST.get("language", language_of(user))
        if language not in LANGUAGES:
            raise BadRequest("language is none of the site.")
        wanted = set(request.POST.getlist("kinds"))
        with transaction.atomic():
            EmailLanguage.objects.update_or_create(user=user, defaults={"language": language})
            EmailOptOut.objects.filter(
                user=user, kind__in=wanted & {str(kind) for kind in offered}
            ).delete()
            EmailOptOut.objects.bulk_create(
                (EmailOptOut(user=user, kind=kind) for kind in offered if kind not in wanted),
                ignore_conflicts=True,
            )
        messages.success(request, _("Your choice was saved."))
        return redirect("admin:my_emails")
    refused = set(EmailOptOut.objects.filter(user=user).values_list("kind", flat=True))
    context = admin.site.each_context(request) | {
        "title": _("My emails"),
        "kinds": [
            {
                "kind": kind,
                "label": kind.label,
                "text": KINDS[kind][1],
                "is_wanted": kind not in refused,
            }
            for kind in offered
        ],
        "languages": LANGUAGES.items(),
        "language": language_of(user),
        "address": user.email,
        "has_calendar": may_have_calendar(user),
    }
    return render(request, "admin/applications/my_emails.html", context)
