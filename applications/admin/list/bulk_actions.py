"""The actions of the list of applications, beside those that move them to a stage (moves/pages.py).
`page` is the admin.
"""

from datetime import datetime

from django.contrib import admin, messages
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from applications import exports
from applications.admin.candidates.pool import PoolPages
from applications.admin.interviews.slots import SlotPages
from applications.admin.list.bulk_email import BulkEmailPages
from applications.admin.page.assigning import AssigningPages
from applications.admin.page.walking import MAX, WalkPages
from applications.admin.selection import ApplicationSelection
from applications.models import Access, Application
from applications.operations.access_log import log_access
from applications.querysets import ApplicationQuerySet
from applications.submissions import archive
from jobsite.admin.base import JobsiteAdmin
from jobsite.admin.confirmation import ActionRow, ActionSection, ask, is_confirmed
from jobsite.types import UserRequest


@admin.action(description=_("Open one after the other"), permissions=["view"])
def open_selected(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse:
    return WalkPages(page).begin(request, list(queryset.values_list("pk", flat=True)[: MAX + 1]))


@admin.action(description=_("Send an email…"), permissions=["email"])
def email_selected(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse:
    selection = ApplicationSelection.of(queryset)
    return BulkEmailPages(page).choose_template(request, selection, request.get_full_path())


@admin.action(description=_("Let applicants choose a time…"), permissions=["change"])
def offer_times(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse:
    return SlotPages(page).answer(
        request, ApplicationSelection.of(queryset), request.get_full_path()
    )


@admin.action(description=_("Ask for the talent pool…"), permissions=["change"])
def ask_for_pool(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse | None:
    return PoolPages(page).ask_selected(request, queryset)


@admin.action(description=_("Export as CSV"), permissions=["export"])
def export_csv(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> StreamingHttpResponse:
    pks = _exported(request, queryset)
    return exports.csv_response(pks, at=timezone.now())


@admin.action(description=_("Export as XLSX"), permissions=["export"])
def export_xlsx(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse:
    pks = _exported(request, queryset)
    return exports.xlsx_response(pks, at=timezone.now())


def _exported(request: UserRequest, queryset: ApplicationQuerySet) -> list[int]:
    """Log the export of the applications. Return their ids in the order of the list."""
    pks = list(queryset.values_list("pk", flat=True))
    log_access(request.user, Access.EXPORT, *pks)
    return pks


@admin.action(description=_("Download files (ZIP)"), permissions=["export"])
def download_files(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> StreamingHttpResponse | None:
    """Send the files of the applications, and log the access to each."""
    pks = list(queryset.values_list("pk", flat=True))
    try:
        files = archive.files_of(pks)
    except archive.NoArchiveError as error:
        page.message_user(request, str(error), messages.ERROR)
        return None
    log_access(request.user, Access.FILE, *(file.submission.application_id for file in files))
    name = f"applications-{timezone.localdate():%Y-%m-%d}.zip"
    headers = {
        "Cache-Control": "private, no-store",
        "Content-Disposition": str(content_disposition_header(True, name)),
        # Else the middleware would compress what hardly gets smaller.
        "Content-Encoding": "identity",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingHttpResponse(
        archive.chunks(files), content_type="application/zip", headers=headers
    )


@admin.action(description=_("Assign to…"), permissions=["change"])
def assign_selected(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse | None:
    return AssigningPages(page).assign_action(request, queryset)


@admin.action(description=_("Tag…"), permissions=["change"])
def tag_selected(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse | None:
    return AssigningPages(page).tag_action(request, queryset)


@admin.action(description=_("Mark as read"), permissions=["change"])
def mark_read(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse | None:
    rows = queryset.filter(read_at=None)
    return _mark(page, request, rows, timezone.now(), label=gettext("Mark as read"), icon="drafts")


@admin.action(description=_("Mark as unread"), permissions=["change"])
def mark_unread(
    page: JobsiteAdmin, request: UserRequest, queryset: ApplicationQuerySet
) -> HttpResponse | None:
    rows = queryset.exclude(read_at=None)
    return _mark(
        page, request, rows, None, label=gettext("Mark as unread"), icon="mark_email_unread"
    )


def _mark(
    page: JobsiteAdmin,
    request: UserRequest,
    rows: ApplicationQuerySet,
    read_at: datetime | None,
    *,
    label: str,
    icon: str,
) -> HttpResponse | None:
    """Ask, then set the mark of colleagues too:
    an application is new until one of them reads it.
    """
    if not is_confirmed(request):
        people = ApplicationSelection.of(rows).people()
        listed = [ActionRow(f"{each.display_name} – {each.vacancy.title}") for each in people]
        return ask(
            page,
            request,
            label=label,
            icon=icon,
            is_refused=not listed,
            text=gettext("The mark changes for your colleagues too."),
            sections=[ActionSection(gettext("Applications"), listed)] if listed else [],
        )
    pks = list(rows.order_by().values_list("pk", flat=True))
    count = Application.objects.filter(pk__in=pks).update(read_at=read_at)
    log_access(request.user, Access.CHANGE, *pks)
    text = (
        ngettext("%(count)d marked as read.", "%(count)d marked as read.", count)
        if read_at
        else ngettext("%(count)d marked as unread.", "%(count)d marked as unread.", count)
    )
    page.message_user(request, text % {"count": count}, messages.SUCCESS)
    return None


ACTIONS = (
    open_selected,
    email_selected,
    offer_times,
    assign_selected,
    tag_selected,
    ask_for_pool,
    export_csv,
    export_xlsx,
    download_files,
    mark_read,
    mark_unread,
)
