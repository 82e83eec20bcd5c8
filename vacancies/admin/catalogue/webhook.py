"""The admin of webhooks: their form, their attempts, and the buttons Test, New secret and Resume."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelForm
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone, translation
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.admin.pages import AdminPages
from jobsite.http_client import why_refused
from jobsite.languages import site_language
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.access.brands import colleagues_of
from vacancies.admin.brand_access import brand_choices
from vacancies.models import Webhook, WebhookAttempt
from vacancies.querysets import EVERY_BRAND
from vacancies.webhooks import sending
from vacancies.webhooks.delivery import resume
from vacancies.webhooks.events import cursor_now
from vacancies.webhooks.signing import secret_of

FIXED = ("kind", "brand", "audience")  # after it was added: its cursor is of them
SHOWN = 20  # attempts
COLORS = {"active": "published", "paused": "expired", "failed": "unpublished"}


class WebhookForm(ModelForm):
    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"].strip()
        if text := why_refused(url, settings.WEBHOOK_PORTS):
            raise ValidationError(gettext(text))
        return url


class WebhookPages(AdminPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls(
            {
                "test": self.test_view,
                "new-secret": self.new_secret_view,
                "resume": self.resume_view,
            }
        )

    def test_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        webhook = self._webhook(request, object_id)
        attempt = sending.test(webhook, at=timezone.now())
        level = messages.SUCCESS if attempt.is_accepted else messages.ERROR
        self.admin.message_user(request, outcome_of(attempt), level)
        return redirect("admin:vacancies_webhook_change", webhook.pk)

    def new_secret_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        with transaction.atomic():
            webhook = self._webhook(request, object_id, is_locked=True)
            webhook.secret_number += 1
            webhook.secret_at = timezone.now()
            webhook.save(update_fields=["secret_number", "secret_at"])
            self._log(request, webhook, gettext_noop("Made a new secret."))
        return self.secret_page(request, webhook)

    def resume_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        with transaction.atomic():
            webhook = self._webhook(request, object_id, is_locked=True)
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

    def _webhook(self, request: UserRequest, object_id: str, *, is_locked: bool = False) -> Webhook:
        rows = self.admin.get_queryset(request)
        rows = rows.select_for_update() if is_locked else rows.select_related("brand")
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
    form = WebhookForm
    list_display = ("name", "kind_name", "brand", "audience", "status", "last_sent")
    list_select_related = ("brand",)
    search_fields = ("name",)
    fields = ("name", "url", *FIXED, "owner")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows = super().get_queryset(request)
        return rows if request.user.has_perm(EVERY_BRAND) else rows.none()

    def has_add_permission(self, request: UserRequest) -> bool:
        return super().has_add_permission(request) and request.user.has_perm(EVERY_BRAND)

    def get_readonly_fields(
        self, request: UserRequest, obj: Webhook | None = None
    ) -> Sequence[str]:
        return FIXED if obj else ()

    def get_changeform_initial_data(self, request: UserRequest) -> dict[str, Any]:
        return {"owner": request.user.pk} | super().get_changeform_initial_data(request)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "owner":
            kwargs["queryset"] = colleagues_of(request.user).filter(is_staff=True)
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "brand":
            brand_choices(field, request.user)
        return field

    def save_model(
        self, request: UserRequest, obj: Webhook, form: WebhookForm, change: bool
    ) -> None:
        if change:  # the dispatcher may write the other columns meanwhile
            obj.save(update_fields=form.changed_data)
        else:
            obj.cursor = cursor_now(obj, at=timezone.now())
            obj.save()

    def response_add(
        self, request: UserRequest, obj: Webhook, post_url_continue: str | None = None
    ) -> HttpResponse:
        if obj.kind == Webhook.Kind.BUILD:  # unsigned
            return super().response_add(request, obj, post_url_continue)
        return WebhookPages(self).secret_page(request, obj)

    def change_view(
        self,
        request: UserRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Context | None = None,
    ) -> HttpResponse:
        webhook = self.get_object(request, object_id)
        attempts = webhook.attempts.all()[:SHOWN] if webhook else ()
        context = {
            "attempts": [(each, outcome_of(each), format_datetime(each.at)) for each in attempts],
            "may_change": webhook and self.has_change_permission(request, webhook),
            "state": self.status(webhook) if webhook else "",
            "next_at": webhook and webhook.tries and webhook.next_at,
        }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @display(description=_("kind"), ordering="kind")
    def kind_name(self, webhook: Webhook) -> str:
        is_build = webhook.kind == Webhook.Kind.BUILD
        return gettext("Build hook") if is_build else gettext("Events")

    @display(description=_("status"), ordering="state")
    def status(self, webhook: Webhook) -> str:
        return format_html(
            '<span class="panel-state is-{}">{}</span>',
            COLORS[webhook.state],
            webhook.get_state_display(),
        )

    @display(description=_("last sent at"), ordering="sent_at")
    def last_sent(self, webhook: Webhook) -> str:
        return format_datetime(webhook.sent_at) if webhook.sent_at else "-"


def outcome_of(attempt: WebhookAttempt) -> str:
    """Return what the receiver answered, or why it did not."""
    if attempt.status is None:
        return gettext(attempt.reason)
    text = gettext("The receiver answered %(status)d after %(number)d ms.")
    return text % {"status": attempt.status, "number": attempt.milliseconds}
