"""The cancellations of interviews that wait until an applicant sees a rejection, a job of the
dispatcher.
"""

from datetime import datetime, timedelta

from django.db import transaction

from applications.models import Application, StageChange
from applications.operations.interviews import cancel_upcoming
from applications.operations.stages import current_changes

PERIOD = timedelta(minutes=1)  # between two searches


class DelayedCancellations:
    """Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._searched_at: datetime | None = None

    def next_due(self, at: datetime) -> tuple[StageChange, datetime] | None:
        """Return a stage change that the applicant sees, and whose cancellations wait, and `at`."""
        if self._searched_at and self._searched_at <= at < self._searched_at + PERIOD:
            return None
        waiting = StageChange.objects.filter(cancels_interviews=True).select_related("stage")
        for change in waiting.order_by("at"):
            if change.visible_at <= at:
                return change, at
        self._searched_at = at
        return None

    def run(self, item: tuple[StageChange, datetime]) -> str:
        """Cancel the interviews, unless the application was moved again. Return the outcome."""
        change, at = item
        with transaction.atomic():
            # Locked, so that an undo waits, or was before.
            Application.objects.select_for_update().filter(pk=change.application_id).first()
            waiting = StageChange.objects.filter(pk=change.pk, cancels_interviews=True)
            pks = [change.application_id]
            is_current = current_changes(pks)[change.application_id] == change
            if not waiting.update(cancels_interviews=False) or not is_current:
                return "cancellation unneeded"
            cancel_upcoming(pks, author=change.author, base_url=self.base_url, at=at)
        return "interviews cancelled"
