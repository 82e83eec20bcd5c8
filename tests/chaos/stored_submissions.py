"""What must hold of the database and of PRIVATE_ROOT after `tests.chaos.submissions`."""

import hashlib
from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, Q

from applications.models import Application, Message, SubmissionFile
from applications.submissions.files import open_file
from tests.chaos.applicants import Applicants


def mistakes(applicants: Applicants) -> Iterator[str]:
    """Yield what is wrong, one line each."""
    receipts = Count("messages", filter=Q(messages__kind=Message.Kind.RECEIPT), distinct=True)
    stages, keys = Count("changes", distinct=True), Count("idempotency_keys", distinct=True)
    rows = Application.objects.select_related("submission")
    rows = rows.annotate(receipts=receipts, stages=stages, keys=keys)
    stored = {row.reference: row for row in rows.order_by()}
    for number in range(applicants.count):
        reference = applicants.references.get(number)
        if reference is None:
            yield f"{number}: no 201"
            continue
        row, sent = stored.get(reference), applicants.site.application(number)
        if row is None:
            yield f"{number}: lost after its 201"
        elif (row.email, row.vacancy_id, row.submission.values) != (
            sent.email,
            sent.vacancy,
            sent.values,
        ):
            yield f"{number}: stored with other values"
    for reference, row in stored.items():
        if (row.receipts, row.stages, row.keys) != (1, 1, 1):
            yield f"{reference}: {row.receipts} receipts, {row.stages} stages, {row.keys} keys"
    yield from (
        f"{email}: stored {n} times" for email, n in Counter(r.email for r in rows).items() if n > 1
    )
    yield from _files(applicants)


def lost(applicants: Applicants) -> Iterator[str]:
    """Yield the submissions that got a 201 and are not stored with their values and their file."""
    rows = Application.objects.filter(reference__in=applicants.references.values())
    stored = {row.reference: row for row in rows.select_related("submission")}
    for number, reference in sorted(applicants.references.items()):
        row, sent = stored.get(reference), applicants.site.application(number)
        if row is None or (row.email, row.submission.values) != (sent.email, sent.values):
            yield f"submission {number}: lost after its 201"
            continue
        digests = [_sha256(file) for file in row.submission.files.all()]
        if digests != ([sent.sha256] if sent.content else []):
            yield f"submission {number}: its file is lost after its 201"


def _sha256(row: SubmissionFile) -> str:
    """Return the digest of the content, "" if there is none."""
    try:
        with open_file(row) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except FileNotFoundError:
        return ""


def _files(applicants: Applicants) -> Iterator[str]:
    """Read every file."""
    seen: Counter[str] = Counter()
    for row in SubmissionFile.objects.select_related("submission__application"):
        email = row.submission.application.email
        sent = applicants.site.application(int(email.removeprefix("applicant-").partition("@")[0]))
        seen[email] += 1
        try:
            with open_file(row) as file:
                content = file.read()
        except FileNotFoundError:
            yield f"{email}: a row without its file"
            continue
        if not hashlib.sha256(content).hexdigest() == row.sha256 == sent.sha256:
            yield f"{email}: the file has another content"
    for number in applicants.references:
        sent = applicants.site.application(number)
        if seen[sent.email] != bool(sent.content):
            yield f"{number}: {seen[sent.email]} files"
