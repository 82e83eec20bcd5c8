"""The emails of an application:
the list, and writing one from a template or as free text, beside a preview.
"""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.files import File
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from applications.admin.page import context as shown
from applications.admin.parts import WRITE, ApplicationPages, FilesField, carried
from applications.mail import templates as mail
from applications.mail.outbox import message_of, not_due
from applications.models import Access, Application, Message, StageChange
from applications.operations.access_log import log_access
from applications.operations.emails import send_emails
from applications.submissions.files import (
    FILE_BYTES_MAX,
    FileError,
    StoredFiles,
    download_name,
    store,
)
from jobsite.admin.base import as_id
from jobsite.api.absolute_urls import base_url
from jobsite.languages import LANGUAGES, supported
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import Context, UserRequest

FILES_MAX = 5


class EmailForm(forms.Form):
    """Subject and text, with placeholders. Those that do not exist are errors."""

    subject = forms.CharField(label=_("Subject"), max_length=200, widget=UnfoldAdminTextInputWidget)
    body = forms.CharField(
        label=_("Text"), max_length=10_000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 14})
    )

    with_status = forms.BooleanField(required=False, initial=True, widget=UnfoldBooleanWidget)

    def __init__(self, *args: Any, change: StageChange | None = None, **kwargs: Any) -> None:
        """`change`: the stage change that the applicant does not see yet.
        The email can wait for it.
        """
        super().__init__(*args, **kwargs)
        if change is None:
            del self.fields["with_status"]
        else:
            at = format_datetime(change.visible_at)
            label = gettext("Send it when the applicant sees the new status, on %(time)s")
            self.fields["with_status"].label = label % {"time": at}

    def clean_subject(self) -> str:
        return self._checked("subject")

    def clean_body(self) -> str:
        return self._checked("body")

    def _checked(self, name: str) -> str:
        text: str = self.cleaned_data[name]
        if unknown := mail.unknown_placeholders(text):
            error = gettext("These placeholders do not exist: %(names)s.")
            raise ValidationError(error % {"names": ", ".join(unknown)})
        return text


class EmailWithFilesForm(EmailForm):
    attachments = FilesField(
        label=_("Files"),
        required=False,
        help_text=_("PDF, DOCX, ODT, RTF, TXT, JPEG or PNG: at most 5, of 10 MB together."),
    )

    def clean_attachments(self) -> list[File]:
        """Refuse what applications may not have either, and what mail servers do not take."""
        files: list[File] = self.cleaned_data["attachments"]
        if len(files) > FILES_MAX:
            text = gettext("These are %(count)d files. Choose at most %(max)d.")
            raise ValidationError(text % {"count": len(files), "max": FILES_MAX})
        size = sum(file.size or 0 for file in files)
        if size > FILE_BYTES_MAX:
            text = gettext("These files have %(size)s together. At most 10 MB are sent.")
            raise ValidationError(text % {"size": filesizeformat(size)})
        return files


class EmailPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        views = {"email": self.email_view, "cancel-email": self.cancel_email_view}
        return self.object_urls(views)

    def email_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Write an email on one page: choose a template, see the email, send it. POST with the step
        "send" queues it; with "preview" it shows what was written.
        """
        application = self.application_or_404(request, object_id, WRITE)
        if not application.address:
            text = gettext("The applicant has no e-mail address.")
            self.message(request, text, messages.WARNING)
            return self.back(request, application, "emails")
        templates = mail.templates_for([application.vacancy.brand_id])
        template = templates.filter(pk__in=[as_id(request.GET.get("template"))]).first()
        own_language = supported(application.language)
        language = mail.language_of(template, own_language) if template else own_language
        texts = {name: getattr(template, f"{name}_{language}", "") for name in ("subject", "body")}
        change = unseen_change(application)
        data = request.POST if request.method == "POST" else None
        form = EmailWithFilesForm(data, request.FILES or None, initial=texts, change=change)
        if form.is_valid():
            texts = {name: form.cleaned_data[name] for name in texts}
        is_shown = form.is_valid() if form.is_bound else all(texts.values())
        written = mail.email(
            **texts, application=application, language=language, base_url=base_url(request)
        )
        if form.is_valid() and request.POST.get("step") == "send":
            files = _stored(form)
            if not form.errors:
                waits = form.cleaned_data.get("with_status")
                return self._send(request, written, change if waits else None, files)
        context = {
            **self.context(
                request, gettext("Email to %(applicant)s") % {"applicant": application.display_name}
            ),
            "media": self.admin.media,
            "application": application,
            "language": gettext(LANGUAGES[language]),
            "is_other_language": language != own_language,
            "own_language": gettext(LANGUAGES[own_language]),
            "templates": templates,
            "template": template,
            "placeholders": mail.described_placeholders(),
            "form": form,
            **_preview(request, written),
            "is_shown": is_shown,
            "carried": carried(request),
            "back": self.page_of(request, application, "emails"),
        }
        log_access(request.user, Access.VIEW, application.pk)
        status = 422 if form.is_bound and form.errors else 200
        response = render(
            request, "admin/applications/application/emails/email.html", context, status=status
        )
        response["Cache-Control"] = "private, no-store"
        return response

    def _send(
        self,
        request: UserRequest,
        email: mail.WrittenEmail,
        change: StageChange | None,
        files: StoredFiles,
    ) -> HttpResponse:
        changes = {email.application.pk: change} if change else {}
        sent: list[int] = []
        try:
            with transaction.atomic():
                sent, repeated = send_emails(
                    [email],
                    author=request.user,
                    at=timezone.now(),
                    changes=changes,
                    files=files.rows,
                )
                log_access(request.user, Access.CHANGE, *sent)
        finally:
            if not sent:
                files.discard()
        if sent:
            self.message(request, gettext("The email is queued."), messages.SUCCESS)
        elif repeated:
            self.message(request, gettext("This email is queued already."), messages.WARNING)
        else:
            text = gettext("The application was deleted in the meantime.")
            self.message(request, text, messages.WARNING)
        return redirect(self.page_of(request, email.application, "emails"))

    def cancel_email_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Cancel the posted email, if it still waits for its time."""
        application = self.posted_to(request, object_id, WRITE)
        waiting = not_due(timezone.now()).filter(application=application)
        cancelled, _rows = waiting.filter(pk__in=[as_id(request.POST.get("email"))]).delete()
        if cancelled:
            log_access(request.user, Access.CHANGE, application.pk)
            self.message(request, gettext("The email was cancelled."), messages.SUCCESS)
        else:
            text = gettext("Not cancelled: the email was sent, or cancelled before.")
            self.message(request, text, messages.WARNING)
        return self.back(request, application, "emails")

    def page_context(self, request: UserRequest, application: Application) -> dict[str, object]:
        """Return what the emails of a page show: nothing that the user may not see."""
        if not request.user.has_perm("applications.view_message"):
            return {"may_see_emails": False}
        waiting = set(
            not_due(timezone.now()).filter(application=application).values_list("pk", flat=True)
        )
        return {
            "may_see_emails": True,
            "may_write": bool(application.address) and request.user.has_perm(WRITE),
            "emails": [
                {
                    "message": message,
                    "at": format_datetime(message.finished_at or message.queued_at),
                    "waits_until": format_datetime(message.next_at)
                    if message.pk in waiting
                    else "",
                    "author": person(message.author) if message.author else "",
                    "reason": gettext(message.error) if message.error else "",
                    "files": [(each, download_name(each)) for each in message.files.all()],
                }
                for message in shown.emails(application)
            ],
        }


def _preview(request: UserRequest, email: mail.WrittenEmail) -> Context:
    """Return `email` as the applicant gets it, with what the outbox adds."""
    outgoing = email.outgoing(kind=Message.Kind.TEMPLATE, author=request.user, stage_change=None)
    message = message_of(outgoing, at=timezone.now())
    return {"message": message, "sender": message.sender or settings.DEFAULT_FROM_EMAIL}


def _stored(form: EmailWithFilesForm) -> StoredFiles:
    """Return the files of `form`. One that cannot be stored is an error, and no file is kept."""
    stored = StoredFiles()
    for file in form.cleaned_data["attachments"]:
        try:
            stored.rows += store({"attachments": file}).rows
        except FileError as error:
            form.add_error("attachments", f"{file.name}: {error.detail}")
    if form.errors:
        stored.discard()
    return stored


def unseen_change(application: Application) -> StageChange | None:
    """Return the stage change of `application` that the applicant does not see yet."""
    changes = list(application.changes.select_related("stage"))
    return shown.undoable(changes, at=timezone.now())
