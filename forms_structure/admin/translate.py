"""The page of the translations of a form: its texts in another language, beside the original."""

from collections.abc import Iterator

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _

from forms_structure import operations
from forms_structure.admin.base import FormPages, address
from forms_structure.choices import Language, Width
from forms_structure.models import Form
from forms_structure.structure import DESCRIPTION_MAX, LABEL_MAX, TITLE_MAX, StructureError, walk
from forms_structure.translations import Mark, own_values
from jobsite.admin.translating import TextRow, tabs
from jobsite.languages import text_languages
from jobsite.types import UserRequest


class FormTranslationPages(FormPages):
    """The page of the translations of a form."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"translate": self.translate_view})

    @method_decorator(transaction.atomic)
    def translate_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Show a translation, or save it. POST `add` or `delete` with a language adds or deletes
        one.
        """
        form = self.form_or_404(request, object_id)
        if not text_languages():
            raise Http404("Forms are not translated.")
        is_post = request.method == "POST"
        if is_post:
            self.demand("change", request, form)
            Form.objects.select_for_update().filter(pk=form.pk).first()
        found = {each.language: each for each in form.translations.order_by("language")}
        offered = [code for code in languages_for(form) if code not in found]
        if is_post and (done := self._add_or_delete(request, form, found, offered)):
            return done
        code = request.GET.get("language") or next(iter(found), "")
        if code and code not in found:
            raise Http404("There is no such translation.")
        groups = list(_groups(form, found[code])) if code else []
        faults: list[str] = []
        if is_post and code:
            rows = [row for _title, rows in groups for row in rows]
            faults = self._save(request, found[code], rows)
            if not faults:
                return self._done(request, form, code, _("Saved."))
        missing = {key: len(each.marks) for key, each in found.items()}
        context = {
            "media": self.admin.media,
            "original": form,
            "tabs": tabs(missing, address("translate", form), code),
            "offered": [(each, Language(each).label) for each in offered],
            "base": form.extends and address("translate", form.extends),
            "language": code,
            "language_name": Language(code).label if code else "",
            "missing": missing.get(code, 0),
            "groups": groups,
            "faults": faults,
            "is_wrong": bool(faults),
            "may_change": self.admin.has_change_permission(request, form),
        }
        page = self.context(request, _("Languages of “%(form)s”") % {"form": form}, **context)
        template = "admin/forms_structure/form/translate.html"
        return TemplateResponse(request, template, page, status=422 if faults else 200)

    def _add_or_delete(
        self, request: UserRequest, form: Form, found: dict[str, Form], offered: list[str]
    ) -> HttpResponse | None:
        """Add or delete the language that was posted; None: neither was asked for."""
        if (code := request.POST.get("add")) in offered:
            operations.translate(form, code, author=request.user)
            return self._done(request, form, code, _("Added %(language)s."))
        if (code := request.POST.get("delete")) in found:
            found[code].delete()
            return self._done(request, form, code, _("Deleted %(language)s."), shown="")
        return None

    def _save(self, request: UserRequest, shown: Form, rows: list[TextRow]) -> list[str]:
        """Save what was changed. Return what is wrong; then nothing is saved."""
        values = {row.name: row.typed for row in rows if row.read(request.POST)}
        if any(row.error for row in rows):
            return [""]
        for row in rows:
            width = request.POST.get(f"width-{row.name}")
            if row.widths and width:
                values[f"{row.name.partition('.label')[0]}.css"] = width
        right = [row.name for row in rows if f"right-{row.name}" in request.POST]
        try:
            operations.save_translation(shown, values, right=right, author=request.user)
        except StructureError as error:
            return error.messages
        return []

    def _done(
        self, request: UserRequest, form: Form, code: str, text: str, shown: str | None = None
    ) -> HttpResponse:
        name = Language(code).label
        self.admin.log_change(request, form, f"Translation {code}.")
        self.admin.message_user(request, text % {"language": name}, messages.SUCCESS)
        code = code if shown is None else shown
        return redirect(address("translate", form) + (f"?language={code}" if code else ""))


def languages_for(form: Form) -> list[str]:
    """Return the languages into which `form` may be translated: those of the form that it extends,
    because its sections are shown after those.
    """
    codes = [code for code in text_languages() if code in Language.values]
    if form.extends:
        codes = list(form.extends.translations.values_list("language", flat=True))
    return [code for code in codes if code != form.served_language]


def _groups(form: Form, translation: Form) -> Iterator[tuple[str, list[TextRow]]]:
    """Yield the heading and the rows of each section."""
    words, own = own_values(form.structure), own_values(translation.structure)
    fields = dict(walk(form.structure))
    for number, section in enumerate(form.structure):
        rows = [
            _row(
                path,
                text,
                own,
                translation.marks.get(path, ""),
                path.partition(".label")[0] in fields,
            )
            for path, text in words.items()
            if text and path.startswith(f"sections.{number}.") and not path.endswith(".css")
        ]
        if rows:
            yield section["title"] or _("Section %(number)s") % {"number": number + 1}, rows


def _row(path: str, text: str, own: dict[str, str], mark: str, is_field: bool) -> TextRow:
    width = own.get(f"{path.partition('.label')[0]}.css", "") if is_field else ""
    is_html = path.endswith(".description")
    is_title = path.endswith(".title")
    return TextRow(
        path,
        text,
        "" if mark == Mark.NEW else own[path],
        longest=DESCRIPTION_MAX if is_html else TITLE_MAX if is_title else LABEL_MAX,
        is_outdated=mark == Mark.CHANGED,
        is_html=is_html,
        widths=[(each.value, str(each.label), each == width) for each in Width] if width else [],
    )
