"""The page "Translate" of a filter: its label and its options in another language."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import translation
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.admin.translating import TextRow, refuse_repeated, tabs
from jobsite.languages import site_language, text_languages
from jobsite.text.iso_names import language_name
from jobsite.types import Context, UserRequest
from vacancies.models import Filter, FilterOption

ROWS = 400  # of one page: an input and what it showed, of Django's 1,000 fields


class TranslatePages(AdminPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"translate": self.translate_view})

    @method_decorator(transaction.atomic)
    def translate_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Show the options in `language`, missing ones first, or save what was typed."""
        filter = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        codes = text_languages()[1:]  # labels are in the language of the site
        code = request.GET.get("language") or next(iter(codes), "")
        if code not in codes:
            raise Http404("Labels are not translated into this language.")
        may_change = self.admin.has_change_permission(request, filter) and request.user.has_perm(
            "vacancies.change_filteroption"
        )
        is_save = request.method == "POST"
        if not (may_change if is_save else self.admin.has_view_permission(request, filter)):
            raise PermissionDenied
        options = FilterOption.objects.filter(filter=filter).order_by("pk")
        found = [filter, *(options.select_for_update() if is_save else options)]
        rows = [_row(each, code) for each in found]
        if is_save and (done := self._save(request, rows, found, code)) is not None:
            text = ngettext("%(count)d label was saved.", "%(count)d labels were saved.", done)
            self.admin.message_user(request, text % {"count": done}, messages.SUCCESS)
            return redirect(f"{request.path}?language={code}")
        context = self._context(filter, found, rows, code)
        is_wrong = any(row.error for row in rows)
        context |= {"may_change": may_change, "is_wrong": is_wrong, "media": self.admin.media}
        title = _("Translate “%(filter)s”") % {"filter": filter}
        page = self.context(request, title, original=filter, **context)
        status = 422 if is_wrong else 200
        return TemplateResponse(request, "admin/translate.html", page, status=status)

    def _save(
        self,
        request: UserRequest,
        rows: list[TextRow],
        found: list[Filter | FilterOption],
        code: str,
    ) -> int | None:
        """Save what was changed and return how much; None if something is wrong."""
        pairs = zip(found, rows, strict=True)
        changed = [(each, row.typed) for each, row in pairs if row.read(request.POST)]
        refuse_repeated(rows[1:])
        if any(row.error for row in rows):
            return None
        for each, typed in changed:
            others = {key: text for key, text in each.translations.items() if key != code}
            each.translations = others | ({code: typed} if typed else {})
        for model in (Filter, FilterOption):
            of_model: list[Any] = [each for each, _typed in changed if isinstance(each, model)]
            model._default_manager.bulk_update(of_model, ["translations"], batch_size=500)
        if changed:
            language = site_language()
            with translation.override(language):  # stored, and read by all users
                text = _("Translated into %(language)s: %(count)d labels.")
                values = {"language": language_name(code, language), "count": len(changed)}
                self.admin.log_change(request, found[0], text % values)
        return len(changed)

    def _context(
        self,
        filter: Filter,
        found: list[Filter | FilterOption],
        rows: list[TextRow],
        code: str,
    ) -> Context:
        pairs = sorted(
            zip(found[1:], rows[1:], strict=True),
            key=lambda pair: (bool(pair[1].text), pair[0].position, pair[0].label),
        )
        options = [row for _option, row in pairs]
        missing = {
            each: sum(not row.translations.get(each) for row in found)
            for each in text_languages()[1:]
        }
        url = reverse("admin:vacancies_filter_translate", args=[filter.pk])
        return {
            "tabs": tabs(missing, url, code),
            "language": code,
            "language_name": language_name(code),
            "missing": sum(not row.text for row in rows),
            "more": max(len(options) - ROWS, 0),
            "groups": [(_("Filter"), rows[:1]), (_("Options"), options[:ROWS])],
        }


def _row(each: Filter | FilterOption, code: str) -> TextRow:
    name = "filter" if isinstance(each, Filter) else f"option-{each.pk}"
    return TextRow(name, each.label, each.translations.get(code, ""), longest=200)
