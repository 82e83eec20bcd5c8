"""The admin of emails: what was sent, what waits and what failed."""

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone, translation
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from applications.admin.catalogue.my_emails import my_emails
from applications.admin.scoped import ScopedAdmin
from applications.models import Access, Message
from applications.operations.access_log import log_access
from applications.submissions.files import download_name
from jobsite.admin.confirmation import ActionRow, ActionSection, ask, is_confirmed
from jobsite.languages import site_language
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest

COLORS = {
    Message.State.QUEUED: "info",
    Message.State.SENDING: "info",
    Message.State.SENT: "success",
    Message.State.FAILED: "danger",
}


@admin.register(Message)
class MessageAdmin(ScopedAdmin):
    """Emails are read only. Those that failed can be queued again."""

    list_display = ("summary", "to", "state_label", "queued", "reason")
    list_filter = ("state", "kind")
    list_links_template = "admin/applications/message/my_emails_link.html"
    show_full_result_count = False
    ordering = ("-pk",)
    search_fields = ("to", "subject")
    actions = ("send_again",)
    fieldsets = (
        (None, {"fields": ("summary", "kind", "written_by", "sent_from", "to", "of_application")}),
        (
            _("Delivery"),
            {"fields": ("state", "reason", "attempts", "queued", "next_attempt", "finished")},
        ),
        (_("Text"), {"fields": ("text", "attached")}),
    )
    readonly_fields = (
        "summary",
        "kind",
        "written_by",
        "sent_from",
        "to",
        "of_application",
        "state",
        "reason",
        "attempts",
        "queued",
        "next_attempt",
        "finished",
        "text",
        "attached",
    )

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(my_emails)
        return [path("mine/", view, name="my_emails"), *super().get_urls()]

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return super().get_queryset(request).select_related("author", "application__vacancy")

    def has_add_permission(self, request: UserRequest) -> bool:
        return False

    def has_change_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        """Emails are deleted with the application, and by the retention period."""
        return False

    def has_send_again_permission(self, request: UserRequest) -> bool:
        return request.user.has_perm("applications.add_message")

    def change_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        """Show an email. It contains what the applicant wrote, so it counts as a view of the
        application.
        """
        response = super().change_view(request, object_id, **kwargs)
        message = self.get_object(request, object_id)
        if response.status_code == 200 and message and message.application_id:
            log_access(request.user, Access.VIEW, message.application_id)
        response["Cache-Control"] = "private, no-store"
        return response

    # --- columns ---

    @display(description=_("Subject"))
    def summary(self, message: Message) -> str:
        return message.subject

    @display(description=_("Status"), ordering="state", label=dict(COLORS))
    def state_label(self, message: Message) -> tuple[str, str]:
        return message.state, message.get_state_display()

    @display(description=_("Reason"))
    def reason(self, message: Message) -> str:
        return gettext(message.error) if message.error else "-"

    @display(description=_("Queued"), ordering="queued_at")
    def queued(self, message: Message) -> str:
        return format_datetime(message.queued_at)

    @display(description=_("Next attempt"))
    def next_attempt(self, message: Message) -> str:
        return format_datetime(message.next_at) if message.state == Message.State.QUEUED else "-"

    @display(description=_("Finished"))
    def finished(self, message: Message) -> str:
        return format_datetime(message.finished_at) if message.finished_at else "-"

    @display(description=_("Written by"))
    def written_by(self, message: Message) -> str:
        return person(message.author) if message.author else gettext("the system")

    @display(description=_("Sender"))
    def sent_from(self, message: Message) -> str:
        return message.sender or settings.DEFAULT_FROM_EMAIL

    @display(description=_("Application"))
    def of_application(self, message: Message) -> str:
        if message.application is None:
            return "-"
        url = reverse("admin:applications_application_change", args=[message.application_id])
        return format_html('<a class="text-link" href="{}">{}</a>', url, message.application)

    @display(description=_("Text"))
    def text(self, message: Message) -> str:
        return format_html('<pre class="mail">{}</pre>', message.text)

    @display(description=_("Files"))
    def attached(self, message: Message) -> str:
        files = (
            (reverse("admin:applications_email_file", args=[each.pk]), download_name(each))
            for each in message.files.all()
        )
        link = '<a class="text-link" href="{}">{}</a>'
        return format_html_join(", ", link, files) or "-"

    # --- actions ---

    @action(description=_("Send again"), permissions=["send_again"])
    def send_again(self, request: UserRequest, queryset: QuerySet) -> HttpResponse | None:
        """Ask, then queue failed emails again. A digest is not: the next one has the same news. An
        invitation is sent again from the list of users, with a new link."""
        now = timezone.now()
        once = (Message.Kind.DIGEST, Message.Kind.INVITATION)
        chosen = queryset.filter(state=Message.State.FAILED).exclude(kind__in=once)
        if not is_confirmed(request):
            listed = [ActionRow(f"{message.to}: {message.subject}") for message in chosen]
            return ask(
                self,
                request,
                label=gettext("Send again"),
                icon="send",
                is_refused=not listed,
                text=gettext(
                    "Only emails that failed are sent again, never digests and invitations."
                ),
                sections=[ActionSection(gettext("Emails"), listed)] if listed else [],
            )
        pks = list(chosen.values_list("pk", flat=True))
        rows = Message.objects.filter(pk__in=pks, state=Message.State.FAILED)
        applications = [pk for pk in rows.values_list("application", flat=True) if pk]
        count = rows.update(
            state=Message.State.QUEUED,
            attempts=0,
            error="",
            queued_at=now,
            next_at=now,
            finished_at=None,
        )
        with translation.override(site_language()):  # stored, and read by all users
            text = gettext("Queued again.")
        again = Message.objects.filter(pk__in=pks)
        LogEntry.objects.log_actions(request.user.pk, again, CHANGE, text)  # type: ignore[arg-type]
        log_access(request.user, Access.CHANGE, *applications)
        text = ngettext(
            "%(count)d email is queued again.", "%(count)d emails are queued again.", count
        )
        level = messages.SUCCESS if count else messages.WARNING
        self.message_user(request, text % {"count": count}, level)
        return None
