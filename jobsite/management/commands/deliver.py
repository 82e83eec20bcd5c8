import signal
import threading

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError

from applications.alerts.job import JobAlerts
from applications.mail.consent import ConsentReminders
from applications.mail.delivery import MailDelivery
from applications.mail.digest import Digest
from applications.mail.reminders import InterviewReminders
from applications.mail.scorecards import OpinionEmails, ScorecardEmails
from applications.mail.stale import StaleEmails
from applications.manage.events import ApplicationEvents
from applications.operations.delayed_cancellations import DelayedCancellations
from applications.operations.pool import PoolRenewals
from applications.operations.replies import Replies
from jobsite.db.locks import database_lock
from jobsite.dispatch import Dispatcher, Job, Stop
from jobsite.office.approval_emails import ApprovalEmails
from jobsite.office.closing_emails import ClosingEmails
from jobsite.office.webhook_emails import WebhookEmails
from jobsite.ops.commands import Command as BaseCommand
from jobsite.types import JsonObject
from vacancies.feed.maintenance import OldChanges
from vacancies.search.merge import MergeJob
from vacancies.webhooks.delivery import WebhookDelivery


def make_dispatcher(stop: Stop, base_url: str = "") -> Dispatcher:
    """Return the dispatcher with every job. `base_url` is for links, if not PUBLIC_BASE_URL. What
    the other lanes queue, `--once` sends: emails are the last lane.
    """
    kinds = (
        Digest,
        StaleEmails,
        OpinionEmails,
        ClosingEmails,
        ApprovalEmails,
        WebhookEmails,
        InterviewReminders,
        DelayedCancellations,
        ScorecardEmails,
        ConsentReminders,
        PoolRenewals,
        JobAlerts,
    )
    others: list[Job] = [*(kind(base_url) for kind in kinds), MergeJob(), OldChanges()]
    lanes: dict[str, list[Job]] = {
        "mailbox": [Replies(base_url)],
        "webhooks": [WebhookDelivery(ApplicationEvents())],
        "others": others,
        "emails": [MailDelivery()],
    }
    return Dispatcher(lanes, lock=database_lock(), stop=stop)


class Command(BaseCommand):
    help = (
        "Send the queued emails and webhooks, and queue digests and notifications. Runs until it is "
        "stopped. Of several processes, one is active and the others wait to take over."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="Send what is due, then exit.")

    def handle(self, *, once: bool, **options: object) -> None:
        stop = Stop()
        received: list[int] = []

        def request_stop(number: int, frame: object) -> None:
            received.append(number)
            stop.set()

        if threading.current_thread() is threading.main_thread():  # only this thread gets signals
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, request_stop)
        dispatcher = make_dispatcher(stop)
        self.written = lambda: f"{dispatcher.outcomes['sent']} emails were sent."
        is_active = True
        if once:
            try:
                is_active = dispatcher.run_once()
            except OperationalError as error:
                raise CommandError(
                    f"The database does not respond: {type(error).__name__}"
                ) from None
        else:
            dispatcher.run()
        if signal.SIGINT in received:
            raise KeyboardInterrupt
        self.report(dispatcher, is_active=is_active)

    def report(self, dispatcher: Dispatcher, *, is_active: bool) -> None:
        counts: JsonObject = {
            name: dispatcher.outcomes[name] for name in ("sent", "failed", "postponed")
        }
        summary = "{sent} emails sent, {failed} failed, {postponed} postponed.".format_map(counts)
        if not is_active:
            summary = "Another process is active: nothing was done."
        self.finish(summary, is_active=is_active, **counts)
