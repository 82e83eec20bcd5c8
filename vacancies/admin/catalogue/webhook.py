"""The admin of webhooks: their form, their attempts, and the buttons Test, New secret and Resume."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet
from django.forms import ModelForm
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone, translation
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.admin.pages import AdminPages
from jobsite.languages import site_language
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.models import Webhook, WebhookAttempt
from vacancies.querysets import EVERY_BRAND
from vacancies.webhooks import sending
from vacancies.webhooks.delivery import resume
from vacancies.webhooks.events import cursor_now
from vacancies.webhooks.signing import secret_of

FIXED = ("kind", "brand", "audience", "integration")  # after it was added: its cursors are of them
SHOWN = 20  # attempts
COLORS = {"active": "published", "paused": "expired", "failed": "unpublished"}


class WebhookPages(AdminPages):
    def urls(self) -> list[URLPattern]:
        views = {
            "test": self.test_view,
            "new-secret": self.new_secret_view,
            "resume": self.resume_view,
        }
        return self.object_urls({name: require_POST(view) for name, view in views.items()})

    def test_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        webhook = self._webhook(request, object_id)
        attempt = sending.test(webhook, at=timezone.now())
        level = messages.SUCCESS if attempt.is_accepted else messages.ERROR
        self.admin.message_user(request, outcome_of(attempt), level)
        return redirect("admin:vacancies_webhook_change", webhook.pk)

    def new_secret_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        webhook = self._webhook(request, object_id)
        raised = F("secret_number") + 1
        Webhook.objects.filter(pk=webhook.pk).update(secret_number=raised, secret_at=timezone.now())
        webhook.refresh_from_db()
        self._log(request, webhook, gettext_noop("Made a new secret."))
        return self.secret_page(request, webhook)

    def resume_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        webhook = self._webhook(request, object_id)
        resume(webhook)
        self._log(request, webhook, gettext_noop("Resumed."))
        text = gettext("What changed meanwhile is sent within some seconds.")
        self.admin.message_user(request, text, messages.SUCCESS)
        return redirect("admin:vacancies_webhook_change", webhook.pk)

    def secret_page(self, request: UserRequest, webhook: Webhook) -> HttpResponse:
        """Show the secret, this once."""
        values: Context = {"original": webhook, "secret": secret_of(webhook)}
        context = self.context(request, webhook.name, media=self.admin.media, **values)
        return TemplateResponse(request, "admin/vacancies/webhook/secret.html", context)

    def _webhook(self, request: UserRequest, object_id: str) -> Webhook:
        rows = self.admin.get_queryset(request).select_related("brand", "integration")
        webhook: Webhook = get_object_or_404(rows, pk=as_id(object_id))
        if not self.admin.has_change_permission(request, webhook):
            raise PermissionDenied
        return webhook

    def _log(self, request: UserRequest, webhook: Webhook, text: str) -> None:
        with translation.override(site_language()):  # stored, and read by all users
            self.admin.log_change(request, webhook, gettext(text))


@admin.register(Webhook)
class WebhookAdmin(JobsiteAdmin):
    """Only administrators have the permissions, and only users of every brand see the rows."""

    page_classes = (WebhookPages,)
    list_display = ("name", "kind", "brand", "audience", "status", "sent_at")
    list_select_related = ("brand",)
    fields = ("name", "url", *FIXED, "owner")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows = super().get_queryset(request)
        return rows if request.user.has_perm(EVERY_BRAND) else rows.none()

    def has_add_permission(self, request: UserRequest) -> bool:
        return super().has_add_permission(request) and request.user.has_perm(EVERY_BRAND)

    def get_readonly_fields(self, request: UserRequest, obj: object = None) -> Sequence[str]:
        return FIXED if obj else ()

    def get_changeform_initial_data(self, request: UserRequest) -> dict[str, Any]:
        return {"owner": request.user.pk} | super().get_changeform_initial_data(request)

    def save_model(self, request: UserRequest, obj: Webhook, form: ModelForm, change: bool) -> None:
        if change:  # the dispatcher may write the other columns meanwhile
            obj.save(update_fields=form.changed_data)
        else:
            obj.cursor = cursor_now(obj, at=timezone.now())
            obj.save()

    def response_add(self, request: UserRequest, obj: Webhook, *args: Any) -> HttpResponse:
        if obj.kind == Webhook.Kind.BUILD:  # unsigned
            return super().response_add(request, obj, *args)
        return WebhookPages(self).secret_page(request, obj)

    def render_change_form(
        self, request: UserRequest, context: Context, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if webhook := kwargs.get("obj"):
            shown = webhook.attempts.all()[:SHOWN]
            context |= {
                "attempts": [(each, outcome_of(each), format_datetime(each.at)) for each in shown],
                "state": self.status(webhook),
                "next_at": webhook.tries and webhook.next_at,
            }
        return super().render_change_form(request, context, *args, **kwargs)

    @display(description=_("status"), ordering="state")
    def status(self, webhook: Webhook) -> str:
        html = '<span class="panel-state is-{}">{}</span>'
        return format_html(html, COLORS[webhook.state], webhook.get_state_display())


def outcome_of(attempt: WebhookAttempt) -> str:
    """Return what the receiver answered, or why it did not."""
    if attempt.status is None:
        return gettext(attempt.reason)
    text = gettext("The receiver answered %(status)d after %(number)d ms.")
    return text % {"status": attempt.status, "number": attempt.milliseconds}
