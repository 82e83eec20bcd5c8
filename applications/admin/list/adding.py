"""The page that adds an application which came in by email, by telephone or at a fair.

Files are stored when they are sent, before the page is valid: then a missing name, or the question
whether the person is known already, costs no second upload. The page sends them along as signed
text. What is never saved has no row, and purge deletes it.
"""

import secrets
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import AutocompleteSelect
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.core.files import File
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.forms import AutocompleteDropdownForm
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanWidget,
)

from applications.admin.page.duplicates import Likely, likely_same
from applications.admin.page.origins import CONTACT, ContactForm
from applications.admin.parts import FilesField
from applications.mail.notice import purpose
from applications.models import Access, Application, Note, Origin, SubmissionFile
from applications.operations.access_log import log_access
from applications.operations.adding import NewApplication, add_application
from applications.submissions import idempotency
from applications.submissions.files import FileError, StoredFiles, store
from applications.submissions.idempotency import KeyInUseError, KeyReusedError
from jobsite import private_files
from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.api.absolute_urls import base_url
from jobsite.languages import site_language, supported
from jobsite.text.formats import format_date
from jobsite.types import JsonObject, UserRequest
from vacancies.access.brands import scope_to_brands
from vacancies.choices import VacancyStatus
from vacancies.models import Vacancy

ADD = "applications.add_application"
FILES_MAX, BYTES_MAX = 5, 20 * 1024 * 1024  # nginx takes 25 MB
DAYS_MAX = 366  # since an application came in
VACANCIES_MAX = 100  # that are offered without JavaScript
KEPT_FOR = timedelta(hours=12)  # a file that was sent; purge deletes it after a day
KEPT = ("original_name", "path", "size", "sha256", "kind", "scan_state")
KEY_MAX = 64  # characters


class VacancySelect(AutocompleteSelect):
    """A vacancy, found by typing. Without JavaScript, one of the newest."""

    def optgroups(self, name: str, value: Any, attrs: Any = None) -> Any:
        chosen = [each for each in value if as_id(each) is not None]
        groups = super().optgroups(name, chosen, attrs)
        options = groups[0][1]
        for vacancy in self.choices.queryset.exclude(pk__in=chosen)[:VACANCIES_MAX]:
            options.append(self.create_option(name, vacancy.pk, vacancy.title, False, len(options)))
        return groups


class AddingForm(ContactForm):
    """What came in. Which files were stored is not part of it."""

    vacancy = forms.ModelChoiceField(Vacancy.objects.none(), label=_("Vacancy"), empty_label=None)
    channel = forms.ChoiceField(
        label=_("Came in by"),
        choices=[each for each in Origin.Channel.choices if each[0] not in Origin.COPIED],
        widget=UnfoldAdminSelectWidget,
    )
    received_on = forms.DateField(
        label=_("Received on"),
        widget=forms.DateInput({"type": "date", "class": "panel-select"}, format="%Y-%m-%d"),
    )
    basis = forms.ChoiceField(
        label=_("Why it may be stored"),
        required=False,
        choices=[
            ("", _("As usual for how it came in")),
            (Origin.Basis.REQUEST, Origin.Basis.REQUEST.label),
            (Origin.Basis.INTEREST, Origin.Basis.INTEREST.label),
            (Origin.Basis.CONSENT, Origin.Basis.CONSENT.label),
        ],
        help_text=_(
            "Usual: by email, by telephone and at a fair, the applicant applied. In other cases, "
            "the applicant did not."
        ),
        widget=UnfoldAdminSelectWidget,
    )
    is_informed = forms.BooleanField(
        label=_("The applicant was told what is stored"),
        required=False,
        help_text=_(
            "Only needed without an e-mail address: with one, the applicant gets an email."
        ),
        widget=UnfoldBooleanWidget,
    )
    uploads = FilesField(
        label=_("Files"),
        required=False,
        help_text=_("At most 5, such as the CV: 10 MB each, 20 MB together."),
    )
    note = forms.CharField(
        label=_("Note"),
        max_length=Note._meta.get_field("text").max_length,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )

    def __init__(
        self, *args: Any, request: UserRequest, model_admin: ModelAdmin, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["vacancy"]
        own = (
            Vacancy.objects.exclude(status=VacancyStatus.ARCHIVED)
            .only("title", "status")
            .order_by("-pk")
        )
        field.queryset = scope_to_brands(request.user, own, "pk")
        relation = Application._meta.get_field("vacancy")
        field.widget = VacancySelect(
            relation, model_admin.admin_site, attrs={"class": "unfold-filter-autocomplete"}
        )
        field.widget.choices = field.choices
        field.error_messages["invalid_choice"] = _(
            "There is no such vacancy, or it is archived. Choose another one."
        )
        today = timezone.localdate()
        self.fields["received_on"].widget.attrs |= {
            "min": today - timedelta(DAYS_MAX),
            "max": today,
        }

    def chosen_vacancy(self) -> Vacancy | None:
        field: Any = self.fields["vacancy"]
        found: Vacancy | None = field.queryset.filter(
            pk=as_id(self["vacancy"].value()) or 0
        ).first()
        return found

    def clean_received_on(self) -> date:
        day: date = self.cleaned_data["received_on"]
        last = timezone.localdate()
        first = last - timedelta(DAYS_MAX)
        if not first <= day <= last:
            text = gettext("Enter a date from %(first)s until %(last)s.")
            raise forms.ValidationError(
                text % {"first": format_date(first), "last": format_date(last)}
            )
        return day

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        data["basis"] = data.get("basis") or Origin.usual_basis(data.get("channel", ""))
        return super().clean()


class AddingPage(AdminPages):
    def add_view(self, request: UserRequest) -> HttpResponse:
        """Show the form; add the application, unless others are likely of the same person and were
        not shown yet.
        """
        if not request.user.has_perm(ADD):
            raise PermissionDenied
        sent = (request.POST, request.FILES) if request.method == "POST" else ()
        form = AddingForm(*sent, request=request, model_admin=self.admin, initial=_initial(request))
        likely: list[Likely] = []
        stored = StoredFiles()
        key = request.POST.get("key", "")[:KEY_MAX] or secrets.token_hex(16)
        if form.is_bound:
            is_valid = form.is_valid()
            stored = _stored(request, form)
            if is_valid and not form.errors:
                likely = _likely(request, form, stored, key)
                if ",".join(str(each.application.pk) for each in likely) == request.POST.get(
                    "seen", ""
                ):
                    if response := _add(request, form, stored, key):
                        return response
                    key = secrets.token_hex(16)
        vacancy = form.chosen_vacancy()
        context = {
            **self.context(request, gettext("Add application")),
            "media": self.admin.media + forms.Media(AutocompleteDropdownForm.Media),
            "form": form,
            "likely": likely,
            "seen": ",".join(str(each.application.pk) for each in likely),
            "key": key,
            "to_read_out": [" ".join(purpose(basis, vacancy)) for basis in ("request", "interest")],
            "kept": [
                (_signed(request, row), row.original_name, filesizeformat(row.size))
                for row in stored.rows
            ],
            "back": reverse("admin:applications_application_changelist"),
        }
        template = "admin/applications/application/list/add.html"
        response = TemplateResponse(request, template, context, status=422 if form.errors else 200)
        response["Cache-Control"] = "private, no-store"
        return response


def _initial(request: UserRequest) -> dict[str, Any]:
    """Return what a new form has: what the address names, else the usual."""
    initial = {"channel": Origin.Channel.EMAIL, "received_on": timezone.localdate()}
    initial |= {
        name: request.GET[name] for name in ("channel", "received_on") if name in request.GET
    }
    own = scope_to_brands(request.user, Vacancy.objects.only("language"), "pk")
    vacancy = own.filter(pk=as_id(request.GET.get("vacancy")) or 0).first()
    language = vacancy.shown_language if vacancy else site_language()
    return initial | {
        "vacancy": vacancy and vacancy.pk,
        "language": supported(language),
    }


def _stored(request: UserRequest, form: AddingForm) -> StoredFiles:
    """Return the files that were sent before and are still wanted, and those of this request. What
    cannot be stored is an error of the form.
    """
    rows = [row for text in request.POST.getlist("kept") if (row := _unsigned(request, text, form))]
    new: list[File] = form.cleaned_data.get("uploads") or []
    if len(rows) + len(new) > FILES_MAX:
        form.add_error("uploads", gettext("At most %(max)d files.") % {"max": FILES_MAX})
        new = []
    if sum(file.size or 0 for file in new) > BYTES_MAX:
        form.add_error(
            "uploads", gettext("These files have more than 20 MB together. Send fewer at a time.")
        )
        new = []
    for file in new:
        try:
            rows += store({"uploads": file}).rows
        except FileError as error:
            form.add_error("uploads", f"{file.name}: {error.detail}")
    for number, row in enumerate(rows, 1):
        row.field = f"file_{number}"
    return StoredFiles(rows)


def _signed(request: UserRequest, row: SubmissionFile) -> str:
    return signing.dumps({name: getattr(row, name) for name in KEPT}, salt=_salt(request))


def _unsigned(request: UserRequest, text: str, form: AddingForm) -> SubmissionFile | None:
    """Return the unsaved row of a file that was sent before; None if it is no more there."""
    try:
        row = SubmissionFile(**signing.loads(text, salt=_salt(request), max_age=KEPT_FOR))
    except signing.BadSignature:
        form.add_error("uploads", gettext("A file was sent too long ago. Choose it again."))
        return None
    if not private_files.exists(row.path):
        form.add_error(
            "uploads",
            gettext("%(name)s is no longer there. Choose it again.") % {"name": row.original_name},
        )
        return None
    return row


def _salt(request: UserRequest) -> str:
    return f"applications.adding.{request.user.pk}"


def _likely(request: UserRequest, form: AddingForm, stored: StoredFiles, key: str) -> list[Likely]:
    """Return the applications that are likely of the same person; none on the second of two clicks,
    which would find the application of the first one.
    """
    data = form.cleaned_data
    if idempotency.application_of(data["vacancy"].pk, key):
        return []
    contact = {name: data[name] for name in CONTACT}
    return likely_same(request.user, [contact], hashes=[row.sha256 for row in stored.rows])


def _add(
    request: UserRequest, form: AddingForm, stored: StoredFiles, key: str
) -> HttpResponse | None:
    """Add the application and go on.
    None, with an error of the form, if its key was used before.
    """
    data = form.cleaned_data
    vacancy = Vacancy.objects.select_related("brand__mail").get(pk=data["vacancy"].pk)
    try:
        application, unknown = add_application(
            NewApplication(
                vacancy=vacancy,
                contact={name: data[name] for name in CONTACT},
                answers=_answers(stored, data["language"]),
                stored=stored,
                language=data["language"],
                channel=data["channel"],
                basis=data["basis"],
                received_on=data["received_on"],
                is_informed=data["is_informed"],
                note=data["note"],
            ),
            author=request.user,
            key=key,
            base_url=base_url(request),
            at=timezone.now(),
        )
    except (KeyReusedError, KeyInUseError):
        text = gettext(
            "This page was saved already, with other content. Save again to add one more."
        )
        form.add_error(None, text)
        return None
    log_access(request.user, Access.CHANGE, application.pk)
    page = reverse("admin:applications_application_change", args=[application.pk])
    link = format_html('<a class="text-link" href="{}">{}</a>', page, application.display_name)
    text = (
        gettext("{link} was added. The applicant gets an email that says what is stored.")
        if application.email
        else gettext("{link} was added.")
    )
    messages.success(request, format_html(text, link=link))
    if unknown:
        text = gettext(
            "No email was sent to %(names)s: no such colleague may view this application."
        )
        messages.warning(request, text % {"names": ", ".join(f"@{name}" for name in unknown)})
    if "_next" in request.POST:
        same = {
            "vacancy": vacancy.pk,
            "channel": data["channel"],
            "received_on": data["received_on"],
        }
        return redirect(f"{reverse('admin:applications_application_add')}?{urlencode(same)}")
    return redirect(page)


def _answers(stored: StoredFiles, language: str) -> list[JsonObject]:
    """Return what each file is called, in the language of the applicant."""
    with translation.override(language):
        labels = [
            gettext("File %(number)d") % {"number": n} for n in range(1, len(stored.rows) + 1)
        ]
    return [
        {"field": row.field, "label": label, "values": [row.original_name]}
        for row, label in zip(stored.rows, labels, strict=True)
    ]
