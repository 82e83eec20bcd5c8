"""Concurrent saves of a vacancy:
the second one is merged with the first one, or asks which text to keep.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.admin import ModelAdmin
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.admin.edit.form_input import (
    FILES,
    Files,
    Input,
    chosen_files,
    parse_post_data,
    post_data,
)
from vacancies.admin.edit.forms import Start, make_forms
from vacancies.admin.edit.merge import MINE, THEIRS, Merge, MergeInput, Overlap, merge_fields
from vacancies.admin.edit.merge_rows import RowMerge
from vacancies.admin.edit.texts import opened
from vacancies.history.diff import field_labels, lines, marked
from vacancies.history.versions import Content, read_content
from vacancies.models import Change, Vacancy, Version
from vacancies.operations.approval_requests import RequestConflictError

DECISION = "_choice-"  # and the key of an overlap
SEEN = "_seen"  # the version that the page with the choices shows
REQUEST = "_request"  # the waiting request that the page with the choices shows
KEEP_EDITING = "_keep_editing"


def version_of(vacancy: Vacancy) -> str:
    return vacancy.updated_at.isoformat()


def authors_since(vacancy: Vacancy, seen: str) -> list[str]:
    """Return who changed the vacancy since the version `seen`. Only versions of its brand: a
    forged, older version would name people of other brands.
    """
    versions = Version.objects.filter(vacancy=vacancy.pk, brand=vacancy.brand_id).exclude(
        change=Change.EXTERNAL
    )
    with suppress(ValueError, OverflowError):
        versions = versions.filter(created_at__gt=datetime.fromisoformat(seen).astimezone(UTC))
    authors = [row.author for row in versions.select_related("author").order_by("pk")]
    return list(
        dict.fromkeys(person(author) if author else _("someone else") for author in authors)
    )


def names(people: list[str]) -> str:
    return ", ".join(people) or _("someone else")


def merged_note(vacancy: Vacancy, seen: str, merge: Merge) -> str:
    """Return the sentence that names what was merged, "" if that is nothing."""
    if not merge.from_theirs:
        return ""
    return _("Merged with the changes of %(people)s: %(fields)s.") % {
        "people": names(authors_since(vacancy, seen)),
        "fields": ", ".join(merge.from_theirs),
    }


def merge_input(
    admin: ModelAdmin,
    request: UserRequest,
    vacancy: Vacancy,
    mine: Input,
    *,
    uploads: Mapping[str, str] | None = None,
    decisions: Mapping[str, str] | None = None,
) -> Merge:
    """Merge `mine` with the stored vacancy, as input of a form that starts from the latter. `mine`
    can be unfinished, so this works on inputs and not on contents.
    """
    forms = make_forms(admin, request, vacancy, start=Start(languages=opened(mine)))
    theirs = forms.initial_post_data()
    base = parse_post_data(next(iter(mine.get("base", ())), ""))
    sides = MergeInput(base, mine, theirs, uploads or {}, decisions or {})
    result = merge_fields(sides, forms.form)
    for formset in forms.formsets:
        RowMerge(sides, result, formset).run()
    result.data |= {"version": [version_of(vacancy)], "base": [json.dumps(theirs)]}
    return result


def decisions_of(request: UserRequest) -> dict[str, str]:
    """Return MINE or THEIRS by the key of an overlap."""
    return {
        name.removeprefix(DECISION): value
        for name, value in request.POST.items()
        if name.startswith(DECISION) and value in (MINE, THEIRS)
    }


def merge_posted(admin: ModelAdmin, request: UserRequest, vacancy: Vacancy) -> Merge | None:
    """Return the posted form merged with the stored vacancy, None if that did
    not change meanwhile.
    """
    version = version_of(vacancy)
    if request.POST.get("version", "") == version and KEEP_EDITING not in request.POST:
        return None
    # others were about another text
    decisions = decisions_of(request) if request.POST.get(SEEN) == version else {}
    uploads = chosen_files(request.FILES)
    return merge_input(
        admin, request, vacancy, post_data(request.POST), uploads=uploads, decisions=decisions
    )


def merged_data(request: UserRequest, merge: Merge | None) -> tuple[Input, Files]:
    """Return the data and the files for the form:
    the posted ones, or those that are left after a merge.
    """
    if merge is None:
        return dict(request.POST.lists()), request.FILES
    return merge.data, Files(
        {new: request.FILES.getlist(name) for name, new in merge.uploads.items()}
    )


def merge_request(error: RequestConflictError, mine: Content) -> Merge:
    """Return the overlaps of what the user wants with what colleagues ask for in the waiting
    request.
    """
    labels, sides = (
        field_labels(),
        (read_content(error.waiting.vacancy), mine, error.waiting.changes),
    )
    texts = {name: [lines(name, side.get(name)) for side in sides] for name in error.fields}
    return Merge(
        {}, {}, overlaps=[Overlap(name, labels[name], a, b, c) for name, (a, b, c) in texts.items()]
    )


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Two changes of `vacancy`, which `merge` could not join. `mine` is the input of the user.
    `error` is set if theirs waits for approval.
    """

    vacancy: Vacancy
    merge: Merge
    mine: Input
    error: RequestConflictError | None = None


def conflict_page(
    admin: ModelAdmin, request: UserRequest, conflict: Conflict, *, button: str
) -> HttpResponse:
    """Ask which text to keep, for each field that both changed. `button` is how the user saved."""
    vacancy, merge, mine, error = conflict.vacancy, conflict.merge, conflict.mine, conflict.error
    people = authors_since(vacancy, next(iter(mine.get("version", ())), ""))
    chosen = [each.partition("=") for each in mine.get(FILES, ())]
    context = {
        **admin.admin_site.each_context(request),
        "title": _("Choose between two changes: %(vacancy)s") % {"vacancy": vacancy},
        "opts": admin.opts,
        "original": vacancy,
        "people": error.people if error else names(people),
        "updated_at": format_datetime(error.waiting.submitted_at if error else vacancy.updated_at),
        "waiting": error and error.waiting.pk,
        "from_theirs": merge.from_theirs,
        "overlaps": [
            {
                "overlap": each,
                "mine": _compared(each.base, each.mine),
                "theirs": _compared(each.base, each.theirs),
            }
            for each in merge.overlaps
        ],
        "inputs": [
            (name, value) for name, values in mine.items() for value in values if name != FILES
        ],
        "files": [(name, file) for name, _equals, file in chosen],
        "seen": version_of(vacancy),
        "button": button,
        "was_shown": SEEN in request.POST,
        "page": next(iter(mine.get("page", ())), ""),
    }
    status = 409 if request.method == "POST" else 200
    return TemplateResponse(
        request, "admin/vacancies/vacancy/edit/conflict.html", context, status=status
    ).render()


def _compared(base: list[str] | None, text: list[str]) -> SafeString:
    return marked(text if base is None else base, text)
