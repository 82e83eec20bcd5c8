"""The parts of the page of an application that a colleague added: contact data, and whether the
applicant was told what is stored. Also what the start page says about these.
"""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from applications.admin.parts import ApplicationPages
from applications.mail.notice import purpose
from applications.models import Access, Application, ConsentRequest, Origin, Submission
from applications.models.origin import INFORMED_WITHIN
from applications.operations.access_log import log_access
from applications.operations.adding import (
    ConfirmedError,
    correct_contact,
    is_correctable,
    mark_informed,
)
from jobsite.api.absolute_urls import base_url
from jobsite.fields import PastedEmailField
from jobsite.languages import LANGUAGES
from jobsite.text.formats import format_date, format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest
from jobsite.unseen import plain_number
from vacancies.access.brands import scope_to_brands

CHANGE = "applications.change_application"
CONTACT = ("given_name", "family_name", "email", "phone")
WARNED_BEFORE = timedelta(days=7)
ROWS_MAX = 5  # on the start page


class ContactForm(forms.Form):
    """Whom an application is from. One with a consent needs an address."""

    given_name = forms.CharField(
        label=_("Given name"), max_length=200, required=False, widget=UnfoldAdminTextInputWidget
    )
    family_name = forms.CharField(
        label=_("Family name"), max_length=200, required=False, widget=UnfoldAdminTextInputWidget
    )
    email = PastedEmailField(
        label=_("E-mail address"),
        max_length=254,
        required=False,
        widget=UnfoldAdminEmailInputWidget,
    )
    phone = forms.CharField(
        label=_("Telephone number"),
        max_length=200,
        required=False,
        widget=UnfoldAdminTextInputWidget,
    )
    language = forms.ChoiceField(
        label=_("Language"),
        choices=[(code, _(name)) for code, name in LANGUAGES.items()],
        help_text=_("Of the emails to the applicant."),
        widget=UnfoldAdminSelectWidget,
    )

    def clean_phone(self) -> str:
        return plain_number(self.cleaned_data["phone"])

    stored_basis = ""  # of the application, if there is one

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        basis = data.get("basis", self.stored_basis)
        if self.has_error("email"):
            return data
        if not any(data.get(name) for name in ("given_name", "family_name", "email")):
            self.add_error("family_name", gettext("Enter a name or an e-mail address."))
        if basis == Origin.Basis.CONSENT and not data.get("email"):
            self.add_error(
                "email", gettext("The applicant is asked by email: enter an e-mail address.")
            )
        return data


class OriginPages(ApplicationPages):
    """Correcting the name and the address, and recording that the applicant was told."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"contact": self.contact_view, "informed": self.informed_view})

    def contact_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Correct the contact data, until the applicant confirmed them.
        The log names fields, not values.
        """
        application = self.application_or_404(request, object_id, CHANGE)
        if not is_correctable(application):
            return self._confirmed(request, application)
        initial = {name: getattr(application, name) for name in (*CONTACT, "language")}
        form = ContactForm(request.POST if request.method == "POST" else None, initial=initial)
        form.stored_basis = application.origin.basis
        if form.is_bound and form.is_valid():
            data = form.cleaned_data
            try:
                changed = correct_contact(
                    application=application,
                    contact={name: data[name] for name in CONTACT},
                    language=data["language"],
                    base_url=base_url(request),
                    at=timezone.now(),
                )
            except ConfirmedError:
                return self._confirmed(request, application)
            if changed:
                log_access(request.user, Access.CHANGE, application.pk)
                labels = [str(form.fields[name].label) for name in changed]
                self.admin.log_change(request, application, [{"changed": {"fields": labels}}])
            is_sent = "email" in changed and bool(data["email"])
            return self._corrected(request, application, is_sent=is_sent)
        log_access(request.user, Access.VIEW, application.pk)
        context = {
            **self.context(request, gettext("Correct contact data")),
            "media": self.admin.media,
            "form": form,
            "back": self.page_of(request, application, "applicant"),
        }
        template = "admin/applications/application/page/contact.html"
        response = TemplateResponse(request, template, context, status=422 if form.errors else 200)
        response["Cache-Control"] = "private, no-store"
        return response

    def _corrected(
        self, request: UserRequest, application: Application, *, is_sent: bool
    ) -> HttpResponse:
        text = gettext("The contact data were corrected.")
        if is_sent:
            text = gettext(
                "The contact data were corrected. The new address gets an email with a new link."
            )
        self.message(request, text, messages.SUCCESS)
        return self.back(request, application, "applicant")

    def _confirmed(self, request: UserRequest, application: Application) -> HttpResponse:
        text = gettext("Not possible: the applicant entered or confirmed the contact data.")
        self.message(request, text, messages.WARNING)
        return self.back(request, application, "applicant")

    def informed_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Record that the applicant was told what is stored."""
        application = self.posted_to(request, object_id, CHANGE)
        if mark_informed(application=application, at=timezone.now()):
            log_access(request.user, Access.CHANGE, application.pk)
            self.message(request, gettext("Recorded: the applicant was told."), messages.SUCCESS)
        return self.back(request, application, "answers")


def origin_context(submission: Submission | None) -> dict[str, object]:
    """Return how the application of `submission` came in, for its page;
    nothing if no colleague added it.
    """
    found = getattr(submission.application, "origin", None) if submission else None
    if submission is None or found is None:
        return {}
    application = submission.application
    at_risk = found.basis == Origin.Basis.INTEREST and found.informed_at is None
    return {
        "origin": found,
        "origin_author": person(found.author) if found.author else "",
        "informed_at": format_datetime(found.informed_at) if found.informed_at else "",
        "to_read_out": ""
        if found.informed_at
        else " ".join(purpose(found.basis, application.vacancy)),
        "deleted_from": format_datetime(found.deleted_from) if at_risk else "",
        "is_correctable": not (application.user_id or application.verified_at),
        **_consent_context(found),
    }


def _consent_context(origin: Origin) -> dict[str, object]:
    """Return the last request for consent, if the application is stored with it."""
    if origin.basis != Origin.Basis.CONSENT:
        return {}
    request = ConsentRequest.objects.filter(application=origin.application_id).last()
    if request is None:
        return {}
    at = format_datetime(request.answered_at) if request.answered_at else ""
    return {"consent": request, "consent_due": format_date(request.due_on), "consent_at": at}


def to_inform(user: User) -> list[tuple[Application, str]]:
    """Return the applications that `purge` deletes within a week unless the applicant is told, with
    the time, of those that `user` may change.
    """
    if not user.has_perm(CHANGE):
        return []
    soon = timezone.now() - INFORMED_WITHIN + WARNED_BEFORE
    late = Origin.objects.filter(basis=Origin.Basis.INTEREST, informed_at=None, added_at__lte=soon)
    # By its index; SQLite begins the query below with the applications of the brands.
    if not late.exists():
        return []
    rows = scope_to_brands(user, late, "application__vacancy")
    shown = rows.select_related("application__vacancy", "application__user").order_by(
        "added_at", "pk"
    )
    return [(each.application, format_datetime(each.deleted_from)) for each in shown[:ROWS_MAX]]
