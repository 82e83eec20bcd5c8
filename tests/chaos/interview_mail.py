"""Emails about interviews while everything fails: none is sent twice, lost, or sent after a
cancellation.

    python -m tests.chaos.interview_mail --kills 50 --movers 8 [--database postgresql]

Recruiters schedule interviews, change those of each other (time, place, people) and cancel them, or
the applicant withdraws, until the dispatchers were killed so often. In the end, the calendar of
each recipient, which keeps the highest sequence, has to show the interview as it is. Exit code 1:
it does not, or an email was sent twice, is missing, or invites again after the cancellation.
"""

import random
import re
import secrets
import sys
from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

from tests.chaos.mail import Run
from tests.chaos.stage_mail import DAY, Movers, main

KINDS = ("stay", "cancel", "withdraw")
COLLEAGUES, CHANGES = 4, 3  # changes of a recruiter after each interview that they schedule
LAST = 20  # interviews that recruiters change
UNKNOWN = "may have been delivered"  # the error says so

Key = tuple[str, str]  # address and UID
Entry = tuple[str, int]  # METHOD and SEQUENCE


def entry_of(calendar: str) -> tuple[str, Entry]:
    """Return UID, METHOD and SEQUENCE."""
    found = dict(re.findall(r"^(UID|METHOD|SEQUENCE):(.*?)\r?$", calendar, re.MULTILINE))
    return found["UID"], (found["METHOD"], int(found["SEQUENCE"]))


def calendar_mistakes(
    arrived: dict[Key, list[Entry]],
    stored: list[tuple[Key, Entry, str, str]],
    wanted: dict[Key, int],
) -> list[str]:
    """Return what is wrong, one line per recipient of an interview. `arrived` are in order;
    `stored` are emails with state and error; `wanted` has the sequence of who takes part, unless it
    is cancelled.
    """
    found = []
    states: dict[Key, dict[Entry, tuple[str, str]]] = defaultdict(dict)
    for key, entry, state, error in stored:
        states[key][entry] = state, error
        if state == "sent" and entry not in arrived.get(key, []):
            found.append(f"{key}: {entry} is shown as sent, and was not")
        elif state != "sent" and (state != "failed" or UNKNOWN not in error):
            found.append(f"{key}: {entry} is {state}: {error}")
    for key in {*arrived, *states, *wanted}:
        entries = arrived.get(key, [])
        found += [
            f"{key}: {entry} arrived {n} times" for entry, n in Counter(entries).items() if n > 1
        ]
        requests = [sequence for method, sequence in entries if method == "REQUEST"]
        if requests != sorted(requests):
            found.append(f"{key}: an old time followed a new one: {entries}")
        newest = entries.index(max(entries, key=_sequence)) if entries else 0
        if (
            key not in wanted
            and "CANCEL" in dict(entries[newest:])
            and "REQUEST" in dict(entries[newest:])
        ):
            found.append(f"{key}: invited after the cancellation: {entries}")
        last = max([*entries, *states[key]], key=_sequence, default=("CANCEL", 0))
        if (last[1] if last[0] == "REQUEST" else None) != wanted.get(key):
            found.append(f"{key}: the last email is {last}, wanted {wanted.get(key)}: {entries}")
    return found


def _sequence(entry: Entry) -> int:
    return entry[1]


class Schedulers(Movers):
    """Threads of recruiters who schedule interviews, and change and cancel those of each other."""

    ahead = timedelta()
    kinds = KINDS

    def set_up(self) -> None:
        from django.contrib.auth.models import User

        from tests.factories import make_vacancy

        self.vacancy = make_vacancy()
        self.colleagues = [
            User.objects.create_superuser(f"colleague{n}", email=f"colleague{n}@example.org")
            for n in range(COLLEAGUES)
        ]
        self.scheduled: list[int] = []
        self.refused = 0  # because somebody else changed the interview

    def _handle(self, address: str, kind: str, dice: random.Random) -> None:
        from django.utils import timezone

        from applications.models import Application, Interview
        from applications.operations import create_application, withdraw_application

        names = {"email": address, "email_folded": address, "language": "en", "given_name": "Mia"}
        at = timezone.now() - timedelta(hours=1)
        application = self._again(
            lambda: create_application(user=None, vacancy=self.vacancy, at=at, **names)
        )
        start = timezone.now().replace(microsecond=0) + 30 * DAY
        entry = Interview(
            application_id=application.pk,
            name="Talk",
            planned_at=start,
            ends_at=start + DAY / 24,
            zone="Europe/Brussels",
            uid=secrets.token_hex(16),
            created_at=at,
        )
        self._again(lambda: self._save(entry, None, dice.sample(self.colleagues, 2)))
        self.moved[address] = (kind, timezone.now())
        self.scheduled.append(entry.pk)
        for _ in range(CHANGES):
            self.stop.wait(dice.uniform(0, 3))
            pk, seed = dice.choice(self.scheduled[-LAST:]), dice.random()
            self._again(lambda pk=pk, seed=seed: self._change(pk, random.Random(seed)))
        if kind == "cancel":
            self._again(lambda: self._cancel(entry.pk))
        elif kind == "withdraw":
            rows = Application.objects.filter(pk=application.pk)
            self._again(lambda: withdraw_application(application=rows.get(), at=timezone.now()))

    def _change(self, pk: int, dice: random.Random) -> None:
        from applications.models import Interview

        entry = Interview.objects.taking_place().filter(pk=pk).first()
        if entry is None:
            return
        seen = entry.updated_at
        colleagues = [
            each.user for each in entry.participants.exclude(user=None).select_related("user")
        ]
        match dice.choice(("time", "time", "place", "people", "people", "cancel")):
            case "time":
                moved = timedelta(minutes=dice.randrange(1, 600))
                entry.planned_at, entry.ends_at = entry.planned_at + moved, entry.ends_at + moved
            case "place":
                entry.place = f"Room {dice.random()}"
            case "people":
                colleagues = dice.sample(self.colleagues, dice.randrange(COLLEAGUES + 1))
            case "cancel":
                self._cancel(pk)
                return
        self._save(entry, seen, colleagues)

    def _save(self, entry: Any, seen: Any, colleagues: list[Any]) -> None:
        from django.utils import timezone

        from applications.operations.interviews import (
            InterviewChangedError,
            InterviewPlan,
            save_interview,
        )

        try:
            save_interview(
                InterviewPlan(
                    entry=entry, colleagues=colleagues, invites_applicant=True, seen=seen
                ),
                author=None,
                at=timezone.now(),
            )
        except InterviewChangedError:  # also if the connection was lost after the commit
            self.refused += 1

    def _cancel(self, pk: int) -> None:
        from django.utils import timezone

        from applications.models import Interview
        from applications.operations.interviews import cancel_interviews

        cancel_interviews(Interview.objects.filter(pk=pk), author=None, at=timezone.now())

    def wrong(self, run: Run) -> list[str]:
        from applications.mail.calendars import calendar_uid
        from applications.models import Message, Participant

        arrived: dict[Key, list[Entry]] = defaultdict(list)
        for email in run.mail.accepted:
            if part := email.get_body(("calendar",)):
                uid, entry = entry_of(part.get_content())
                arrived[str(email["To"]), uid].append(entry)
        stored = []
        emails = Message.objects.exclude(calendar="").values_list(
            "to", "calendar", "state", "error"
        )
        for to, calendar, state, error in emails:
            uid, entry = entry_of(calendar)
            stored.append(((to, uid), entry, state, error))
        rows = Participant.objects.filter(entry__is_cancelled=False)
        current = rows.values_list("address", "entry__uid", "sequence")
        wanted = {(to, calendar_uid(uid)): sequence for to, uid, sequence in current}
        methods = Counter(entry[0] for entries in arrived.values() for entry in entries)
        print(f"{dict(methods)} arrived; {self.refused} changes were refused.")
        return calendar_mistakes(arrived, stored, wanted)


if __name__ == "__main__":
    sys.exit(main(__doc__, Schedulers))
