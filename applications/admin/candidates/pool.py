"""Asking applicants to join the talent pool: one, or a selection of the list. Only they can say yes."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from applications.admin.candidates.scope import CandidatePages, own_applications
from applications.admin.parts import CHANGE
from applications.mail.consent import own_page, pool_question
from applications.mail.links import personal_link
from applications.models import Access, Application, Message
from applications.operations.access_log import log_access
from applications.operations.pool import PoolTexts, ask_for_pool, why_not_asked
from applications.querysets import ApplicationQuerySet
from jobsite.admin.base import action_parameters
from jobsite.admin.confirmation import is_confirmed
from jobsite.api.absolute_urls import base_url
from jobsite.languages import LANGUAGES, supported
from jobsite.types import Context, UserRequest

MAX_ASKED = 500  # emails at a time: each is rendered and stored in the request


class PoolPages(CandidatePages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"pool": self.pool_view})

    def pool_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET shows the question; POST sends it."""
        application = self.application_or_404(request, object_id, CHANGE)
        rows, back = _rows(request, [application.pk]), self.page_of(request, application)
        if request.method == "POST":
            self._ask(request, rows)
            return redirect(back)
        log_access(request.user, Access.VIEW, application.pk)
        return self._page(request, rows, {"back": back})

    def ask_selected(
        self, request: UserRequest, queryset: ApplicationQuerySet
    ) -> HttpResponse | None:
        """Ask before, then send the question to the applicants of a selection."""
        pks = list(queryset.order_by().values_list("pk", flat=True)[: MAX_ASKED + 1])
        if len(pks) > MAX_ASKED:
            text = gettext("Nobody was asked. Choose at most %(most)d applications at a time.")
            self.message(request, text % {"most": MAX_ASKED}, messages.ERROR)
            return None
        rows = _rows(request, pks)
        if is_confirmed(request):
            self._ask(request, rows)
            return None
        back, repeated = request.get_full_path(), action_parameters(request)
        return self._page(request, rows, {"back": back, "repeated": repeated})

    def _page(
        self, request: UserRequest, rows: ApplicationQuerySet, context: Context
    ) -> HttpResponse:
        people = list(rows.with_stage())
        left_out = why_not_asked(people, at=timezone.now())
        asked = [each for each in people if each.pk not in left_out]
        context = {
            **self.context(request, gettext("Ask for the talent pool")),
            **context,
            "media": self.admin.media,
            "asked": asked,
            "left_out": [(each, left_out[each.pk]) for each in people if each.pk in left_out],
            "previews": list(_previews(asked, base_url(request))),
        }
        template = "admin/applications/application/candidates/ask_for_pool.html"
        response = TemplateResponse(request, template, context)
        response["Cache-Control"] = "private, no-store"
        return response

    def _ask(self, request: UserRequest, rows: ApplicationQuerySet) -> None:
        pks = list(rows.order_by().values_list("pk", flat=True))
        asked = ask_for_pool(pks, base_url=base_url(request), at=timezone.now())
        log_access(request.user, Access.CHANGE, *asked)
        text = ngettext(
            "%(count)d applicant is asked.", "%(count)d applicants are asked.", len(asked)
        )
        level = messages.SUCCESS if asked else messages.WARNING
        self.message(request, text % {"count": len(asked)}, level)
        if left := len(pks) - len(asked):
            text = ngettext("%(count)d is not asked.", "%(count)d are not asked.", left)
            self.message(request, text % {"count": left}, messages.WARNING)


def _rows(request: UserRequest, pks: list[int]) -> ApplicationQuerySet:
    return own_applications(request.user).filter(pk__in=pks).with_email_facts().newest_first()


def _previews(asked: list[Application], url: str) -> Iterator[dict[str, Any]]:
    """Yield the email to the first applicant of each language and brand."""
    texts, shown = PoolTexts(), set()
    for each in asked:
        code, brand = supported(each.language), each.vacancy.brand
        if (code, each.vacancy.brand_id) in shown:
            continue
        shown.add((code, each.vacancy.brand_id))
        with translation.override(code):
            question = texts.question(each, at=timezone.now())
            link = own_page(each, url) or personal_link(url, Message.SECRET)
            subject, lines = pool_question(question, link)
        yield {
            "title": f"{gettext(LANGUAGES[code])} – {brand}" if brand else gettext(LANGUAGES[code]),
            "code": code,
            "applicant": each,
            "subject": subject,
            "body": "\n".join(lines),
        }
