from typing import Any

from django.utils import timezone

from applications import privacy
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Delete tokens, sessions and failed sign-ins that are over. Run it daily where applications are kept "
        "for ever; purge_applications does it too."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        gone = privacy.purge_credentials(now=timezone.now())
        self.finish(
            f"Deleted {gone['tokens']} tokens, {gone['sessions']} sessions and "
            f"{gone['failed_sign_ins']} failed sign-ins that were over.",
            tokens=gone["tokens"],
            sessions=gone["sessions"],
            failed_sign_ins=gone["failed_sign_ins"],
        )
