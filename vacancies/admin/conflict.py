"""Concurrent saves of a vacancy: the second one is merged with the first one, or asks which text to keep."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from jobsite.admin.base import JobsiteAdmin
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from vacancies.admin.form_input import FILES, Input, as_post, chosen_files, parsed, posted, untouched
from vacancies.admin.merge import MINE, THEIRS, Merge, Sides, merge_fields
from vacancies.admin.merge_rows import RowMerge
from vacancies.history.diff import marked
from vacancies.models import Change, Vacancy, Version

DECISION = "_choice-"  # and the key of an overlap
SEEN = "_seen"  # the version that the page with the choices shows
KEEP_EDITING = "_keep_editing"


def version_of(vacancy: Vacancy) -> str:
    return vacancy.updated_at.isoformat()


def authors_since(vacancy: Vacancy, seen: str) -> list[str]:
    """Return who changed the vacancy since the version `seen`. Only versions of its brand: a forged, older
    version would name people of other brands."""
    versions = Version.objects.filter(vacancy=vacancy.pk, brand=vacancy.brand_id).exclude(change=Change.FOUND)
    with suppress(ValueError, OverflowError):
        versions = versions.filter(created_at__gt=datetime.fromisoformat(seen).astimezone(UTC))
    authors = [row.author for row in versions.select_related("author").order_by("pk")]
    return list(dict.fromkeys(person(author) if author else _("someone else") for author in authors))


def names(people: list[str]) -> str:
    return ", ".join(people) or _("someone else")


class ConflictAdmin(JobsiteAdmin):
    """Merges the posted form of a vacancy with what was saved since it was opened."""

    def _changeform_view(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra_context: Any
    ) -> HttpResponse:
        # Not `changeform_view`: this is inside its transaction, in which `get_object` locks the row.
        if request.method == "POST" and object_id:
            vacancy = self.get_object(request, unquote(object_id))
            if vacancy and self.has_change_permission(request, vacancy):
                response = self._merge_posted(request, vacancy)
                if response:
                    return response
        return super()._changeform_view(request, object_id, form_url, extra_context)  # type: ignore[misc]

    def stored_input(self, request: HttpRequest, vacancy: Vacancy | None) -> tuple[Input, Any, list[Any]]:
        """Return what an untouched form of the vacancy posts, and its unbound form and formsets."""
        fields = flatten_fieldsets(self.get_fieldsets(request, vacancy))
        form_class = self.get_form(request, vacancy, change=vacancy is not None, fields=fields)
        form = form_class(instance=vacancy)
        formsets = [
            made(instance=vacancy, prefix=made.get_default_prefix(), queryset=inline.get_queryset(request))
            for made, inline in self.get_formsets_with_inlines(request, vacancy)
        ]
        return untouched(form, formsets), form, formsets

    def merged(
        self, request: HttpRequest, vacancy: Vacancy, mine: Input, *,
        uploads: dict[str, str], decisions: dict[str, str],
    ) -> Merge:  # fmt: skip
        """Merge `mine` with the stored vacancy, as input of a form that starts from the latter."""
        theirs, form, formsets = self.stored_input(request, vacancy)
        base = parsed(next(iter(mine.get("base", ())), ""))
        sides = Sides(base, mine, theirs, uploads, decisions)
        result = merge_fields(sides, form)
        for formset in formsets:
            RowMerge(sides, result, formset).run()
        result.data |= {"version": [version_of(vacancy)], "base": [json.dumps(theirs)]}
        return result

    def merge_of(self, request: HttpRequest, vacancy: Vacancy) -> Merge | None:
        """Return the posted form merged with the stored vacancy, None if that did not change meanwhile."""
        version = version_of(vacancy)
        if request.POST.get("version", "") == version and KEEP_EDITING not in request.POST:
            return None
        uploads = chosen_files(request.FILES)
        decisions = {
            name.removeprefix(DECISION): value
            for name, value in request.POST.items()
            if name.startswith(DECISION) and value in (MINE, THEIRS)
        }
        if request.POST.get(SEEN) != version:  # they were about another text
            decisions = {}
        return self.merged(request, vacancy, posted(request.POST), uploads=uploads, decisions=decisions)

    def post_merged(self, request: HttpRequest, merge: Merge) -> None:
        """Replace the posted form by the merged one."""
        own = (DECISION, SEEN, KEEP_EDITING)
        buttons = {
            name: values
            for name, values in request.POST.lists()
            if name.startswith("_") and not name.startswith(own)
        }
        files: Any = {new: request.FILES[name] for name, new in merge.uploads.items()}
        request.POST = as_post(merge.data | buttons)  # type: ignore[assignment]
        request.FILES.clear()
        request.FILES.update(files)

    def _merge_posted(self, request: HttpRequest, vacancy: Vacancy) -> HttpResponse | None:
        """Merge the posted form if necessary. Return a page if there is something to choose."""
        merge = self.merge_of(request, vacancy)
        if merge is None:
            return None
        if not merge.is_complete:
            mine = posted(request.POST)
            files = [f"{name}={file}" for name, file in chosen_files(request.FILES).items()]
            mine[FILES] = [*mine.get(FILES, []), *files]
            button = next((name for name in ("_addanother", "_continue") if name in request.POST), "_save")
            return self.conflict_page(request, vacancy, merge, mine, button=button)
        if KEEP_EDITING in request.POST:
            return self.keep_editing(request, vacancy, merge.data)
        people = authors_since(vacancy, request.POST.get("version", ""))
        self.post_merged(request, merge)
        if merge.from_theirs:
            text = _("Merged with the changes of %(people)s: %(fields)s.") % {
                "people": names(people), "fields": ", ".join(merge.from_theirs),
            }  # fmt: skip
            self.message_user(request, text, messages.INFO)
        return None

    def keep_editing(self, request: HttpRequest, vacancy: Vacancy, data: Input) -> HttpResponse:
        """Store `data` as unsaved input, and open it in the form."""
        raise NotImplementedError

    def conflict_page(
        self, request: HttpRequest, vacancy: Vacancy, merge: Merge, mine: Input, *, button: str
    ) -> HttpResponse:
        """Ask which text to keep, for each field that both changed."""
        people = authors_since(vacancy, next(iter(mine.get("version", ())), ""))
        chosen_files = [each.partition("=") for each in mine.get(FILES, ())]
        context = {
            **self.admin_site.each_context(request),
            "title": _("Choose between two changes: %(vacancy)s") % {"vacancy": vacancy},
            "opts": self.opts,
            "original": vacancy,
            "people": names(people),
            "updated_at": format_datetime(vacancy.updated_at),
            "from_theirs": merge.from_theirs,
            "overlaps": [
                {"overlap": each, "mine": _compared(each.base, each.mine),
                 "theirs": _compared(each.base, each.theirs)}
                for each in merge.overlaps
            ],
            "inputs": [(name, value) for name, values in mine.items() for value in values if name != FILES],
            "files": [(name, file) for name, _equals, file in chosen_files],
            "seen": version_of(vacancy),
            "button": button,
            "was_shown": SEEN in request.POST,
            "page": next(iter(mine.get("page", ())), ""),
        }  # fmt: skip
        status = 409 if request.method == "POST" else 200
        return TemplateResponse(
            request, "admin/vacancies/vacancy/conflict.html", context, status=status
        ).render()


def _compared(base: list[str] | None, text: list[str]) -> SafeString:
    return marked(text if base is None else base, text)
