"""System checks of the virus scanner, retention, erasure and emails (manage.py check, check
--deploy).
"""

import os
from datetime import date, timedelta
from email.utils import parseaddr
from pathlib import Path

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.utils import timezone

from applications.mail.brand_mail import may_send_as, sender_domains
from applications.models import Application, BrandMail, Message, SubmissionFile
from applications.operations import replies
from applications.submissions import antivirus
from applications.submissions.files import missing_newest
from jobsite.ops.checks import register_content_check

WAIT_MAX = timedelta(minutes=10)
# applications/static/applications/vendor/pdfjs.
PDFJS, PDFJS_RELEASED = "6.5.438", date(2026, 11, 1)
PDFJS_AGE_MAX = timedelta(days=183)


@register(Tags.security)
def antivirus_is_valid(**kwargs: object) -> list[CheckMessage]:
    """Report an address of a virus scanner that cannot be used.
    Every file would be stored without a scan.
    """
    if not settings.ANTIVIRUS:
        return []
    try:
        antivirus.address()
    except ValueError as error:
        return [Error(str(error), id="jobsite.E014")]
    return []


@register()
def reply_mailbox_is_valid(**kwargs: object) -> list[CheckMessage]:
    """Report a REPLY_MAILBOX that is no address of a mailbox."""
    try:
        replies.mailbox()
    except ValueError as error:
        return [Error(str(error), id="jobsite.E024")]
    return []


@register(Tags.security, deploy=True)
def erasures_are_logged(**kwargs: object) -> list[CheckMessage]:
    """Report an ERASURE_LOG that cannot be written: no applicant could be erased."""
    log = Path(settings.ERASURE_LOG)
    is_writable = os.access(log if log.exists() else log.parent, os.W_OK) and not log.is_dir()
    if not settings.ERASURE_LOG or is_writable:
        return []
    hint = "Create its folder, or unset ERASURE_LOG: the database records erasures too."
    return [Warning(f"ERASURE_LOG, {log}, cannot be written.", hint=hint, id="jobsite.W033")]


@register_content_check
def applications_expire() -> list[CheckMessage]:
    """Report a site with applications that are never deleted."""
    if settings.APPLICATIONS_KEPT_DAYS or not Application.objects.exists():
        return []
    return [
        Warning(
            "Applications are never deleted.",
            hint=("Set APPLICATIONS_KEPT_DAYS, and run purge daily (jobsite-purge.timer)."),
            id="jobsite.W016",
        )
    ]


@register_content_check
def files_are_there() -> list[CheckMessage]:
    """Report a PRIVATE_ROOT without the newest files:
    another folder, or one that is not mounted.
    """
    missing, count = missing_newest()
    if missing < count or not count:
        return []
    return [
        Warning(
            f"PRIVATE_ROOT contains none of the {count} newest files of applicants.",
            hint=f"Mount {settings.PRIVATE_ROOT}, or correct PRIVATE_ROOT.",
            id="jobsite.W032",
        )
    ]


@register_content_check
def pdf_viewer_is_new() -> list[CheckMessage]:
    """Report a pdf.js that has probably known holes.
    It reads what applicants send, but without an origin.
    """
    if timezone.localdate() - PDFJS_RELEASED <= PDFJS_AGE_MAX:
        return []
    if not SubmissionFile.objects.filter(kind="pdf").exists():
        return []
    return [
        Warning(
            f"pdf.js {PDFJS}, which shows the PDFs of applicants, was released on "
            f"{PDFJS_RELEASED}.",
            hint="Update the site. If there is no newer checkout: make pdfjs PDFJS=<version>.",
            id="jobsite.W037",
        )
    ]


@register_content_check
def senders_are_allowed() -> list[CheckMessage]:
    """Report senders of brands that may not send any more."""
    rows = BrandMail.objects.exclude(sender_address="").select_related("brand").order_by("brand")
    site = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    return [
        Warning(
            f"The emails of {mail.brand} are sent from {site}: {mail.sender_address} is of no "
            "domain of SENDER_DOMAINS.",
            hint=f"Allowed: {', '.join(sender_domains())}.",
            id="jobsite.W034",
        )
        for mail in rows
        if not may_send_as(mail.sender_address)
    ]


@register_content_check
def emails_are_delivered() -> list[CheckMessage]:
    """Report emails that nobody sends."""
    before = timezone.now() - WAIT_MAX
    rows = Message.objects.filter(state__in=Message.WAITING, is_bulk=False, next_at__lt=before)
    waiting = rows.order_by("next_at").first()
    if waiting is None:
        return []
    return [
        Warning(
            f"An email is due since {waiting.next_at:%Y-%m-%d %H:%M} UTC.",
            hint="Run manage.py deliver (jobsite-deliver.service), and check EMAIL_URL.",
            id="jobsite.W021",
        )
    ]
