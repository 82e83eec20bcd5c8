"""When and to whom an import shows a vacancy. The source decides until a recruiter does."""

from collections.abc import Collection, Mapping
from datetime import datetime

from vacancies.choices import Audience, State, VacancyStatus
from vacancies.dates import last_day
from vacancies.exchange.comparison import ENDS, as_shown, end_key
from vacancies.exchange.fields import Remark
from vacancies.exchange.incoming import Incoming, ItemRefusedError
from vacancies.exchange.item_reader import CLOCK_SKEW
from vacancies.exchange.serializers import FileStatus

_STATUSES = {
    FileStatus.DRAFT: VacancyStatus.DRAFT,
    FileStatus.CLOSED: VacancyStatus.UNPUBLISHED,
}


class Publication:
    """The publication of an imported vacancy. `by_recruiters` has the vacancies of the batch whose
    value a recruiter set, by column.
    """

    def __init__(self, incoming: Incoming, by_recruiters: Mapping[str, Collection[int]]) -> None:
        self.incoming = incoming
        self.by_recruiters = by_recruiters

    def _is_by_recruiter(self, *columns: str) -> bool:
        pk = self.incoming.vacancy.pk
        return any(pk in self.by_recruiters[name] for name in columns)

    # --- the audience ---

    def is_of_another_file(self) -> bool:
        """Whether the content of the vacancy came from a file of the other kind, public or
        internal.

        The first file decides the content, so that later imports give the same result in any order.
        If a recruiter changed the audience, it is unknown which file was first, and each file may
        decide.
        """
        row, stored = self.incoming.row, self.incoming.stored
        if stored is None or row.is_from_service or self._is_by_recruiter("audience"):
            return False
        return row.is_external == (stored.audience == Audience.INTERNAL)

    def set_audience(self) -> None:
        """Set the audience: that of the source for a new vacancy, else the stored one.

        A public vacancy becomes internal too if the source lists it as internal. An internal one
        does not become public: that is for a recruiter to decide.
        """
        incoming, row = self.incoming, self.incoming.row
        vacancy = incoming.vacancy
        if incoming.stored is None:
            vacancy.audience = Audience.PUBLIC
            if row.is_internal:
                vacancy.audience = Audience.BOTH if row.is_external else Audience.INTERNAL
            return
        if vacancy.audience == Audience.INTERNAL and row.is_external:
            text = "is public in the source and internal here; a recruiter can make it public"
            incoming.note("", "audience", text)
        if vacancy.audience == Audience.PUBLIC and row.is_internal:
            vacancy.audience = Audience.BOTH

    # --- the end ---

    def set_end(self) -> None:
        """Set the end of publication to that of the source, unless a recruiter set it here."""
        incoming, item = self.incoming, self.incoming.item
        first = end_key(item)
        if first is None:
            return
        for name in ENDS:
            if name in item and name != first:
                self._compare_ends(first, name)
        vacancy = incoming.vacancy
        end = as_shown(item[first], vacancy.publish_until)
        if not self._is_by_recruiter("publish_until"):
            vacancy.publish_until = end
        elif vacancy.publish_until != end:
            text = "differs from the value that a recruiter set here; not changed"
            incoming.note(first, "kept", text)

    def _compare_ends(self, first: str, name: str) -> None:
        incoming = self.incoming
        one, other = incoming.item[first], incoming.item[name]
        if name == "closing_date":  # has no time
            one, other = (each and last_day(each, incoming.row.zone) for each in (one, other))
        if one != other:
            incoming.note(name, "contradiction", f"differs from {first}, which was used")

    # --- the status and the start ---

    def set_status(self) -> None:
        """Set the status and the start of publication as the source does, unless a recruiter
        decided.
        """
        vacancy = self.incoming.vacancy
        before = (vacancy.status, vacancy.publish_from)
        status = self.incoming.item.get("status")
        if status in _STATUSES:
            vacancy.status = _STATUSES[status]
            start = self.incoming.item.get("published_at", vacancy.publish_from)
            vacancy.publish_from = as_shown(start, vacancy.publish_from)
        elif self._is_published_by_source():
            self._publish()
        if (vacancy.status, vacancy.publish_from) == before:
            return
        if self._is_by_recruiter("status", "publish_from"):
            key = "published_at" if vacancy.status == before[0] else "status"
            vacancy.status, vacancy.publish_from = before
            self.incoming.note(key, "kept", "differs from what a recruiter set here; not changed")

    def _is_published_by_source(self) -> bool:
        item, vacancy = self.incoming.item, self.incoming.vacancy
        if item.get("status"):
            return True
        # A draft without publish_from was never published here: an earlier import left it as a
        # draft.
        if (vacancy.status, vacancy.publish_from) == (VacancyStatus.DRAFT, None):
            return True
        states_start = "published_at" in item or not self.incoming.row.is_from_service
        return vacancy.status == VacancyStatus.PUBLISHED and states_start

    def _publish(self) -> None:
        """Publish the vacancy as the source does, or report why not."""
        vacancy, at = self.incoming.vacancy, self.incoming.at
        start = self._start()
        if vacancy.state_at(at) in (State.PUBLISHED, State.EXPIRED) and start <= at:
            vacancy.publish_from = start
        elif missing := self._missing():
            self._report_draft(missing)
        else:
            start = self._not_later(start)
            vacancy.status, vacancy.publish_from = VacancyStatus.PUBLISHED, start

    def _start(self) -> datetime:
        """Return when the source publishes the vacancy: without that, what is stored, else the time
        of its creation.
        """
        item, vacancy = self.incoming.item, self.incoming.vacancy
        start = as_shown(item.get("published_at"), vacancy.publish_from) or vacancy.publish_from
        if item.get("status") == FileStatus.SCHEDULED and start is None:
            raise ItemRefusedError(
                Remark("published_at", "required", "A scheduled vacancy needs it.")
            )
        return start or vacancy.created_at

    def _missing(self) -> list[str]:
        vacancy = self.incoming.vacancy
        missing = list(vacancy.missing_to_publish().values())
        if vacancy.brand and vacancy.brand.requires_approval:
            missing.append("The brand publishes with approval only.")
        return missing

    def _report_draft(self, missing: list[str]) -> None:
        incoming = self.incoming
        is_draft = incoming.vacancy.status == VacancyStatus.DRAFT
        what = "imported as a draft" if is_draft else "not published"
        remark = Remark("", "draft", f"{what}: {' '.join(missing)}")
        incoming.report.add(
            "draft", incoming.row.name, remark, id=incoming.item["id"], is_id_shown=True
        )

    def _not_later(self, start: datetime) -> datetime:
        """Return `start`, or now if a service shows the vacancy already."""
        incoming, at = self.incoming, self.incoming.at
        if incoming.row.is_from_service:
            if start > at + CLOCK_SKEW:
                text = "is in the future, but the source shows the vacancy; it was published now"
                incoming.note("published_at", "future", text)
            return min(start, at)
        if start > at and incoming.item.get("status") != FileStatus.SCHEDULED:
            text = "is in the future; the vacancy is public from then on"
            incoming.note("published_at", "future", text)
        return start
