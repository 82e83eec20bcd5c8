from django.utils import timezone

from applications import privacy
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Delete expired tokens, sessions, failed sign-ins, idempotency keys and proofs of work, "
        "old emails "
        "to colleagues and of job alerts, old invitations, job alerts that were not confirmed, "
        "old unsaved "
        "input of recruiters, and unused form snapshots. Run it daily if purge_applications, "
        "which does the "
        "same, is not run."
    )

    def handle(self, *args: object, **options: object) -> None:
        counts = privacy.purge_credentials(now=timezone.now())
        self.finish(
            f"Deleted {counts['tokens']} tokens, {counts['sessions']} sessions and "
            f"{counts['failed_sign_ins']} failed sign-ins that had expired.",
            tokens=counts["tokens"],
            sessions=counts["sessions"],
            failed_sign_ins=counts["failed_sign_ins"],
            idempotency_keys=counts["idempotency_keys"],
            used_proofs=counts["used_proofs"],
            emails_to_colleagues=counts["emails_to_colleagues"],
            emails_of_alerts=counts["emails_of_alerts"],
            job_alerts=counts["job_alerts"],
            unsaved_input=counts["unsaved_input"],
            invitations=counts["invitations"],
            form_snapshots=counts["form_snapshots"],
        )
