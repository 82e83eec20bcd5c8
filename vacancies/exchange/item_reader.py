"""Validation and conversion of the items of a source."""

import re
from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from jobsite.types import JsonObject
from vacancies.exchange.fields import Remark, faults
from vacancies.exchange.html_texts import convert_texts
from vacancies.exchange.json_files import InvalidLine, repeated_key
from vacancies.exchange.reports import VacancyReport
from vacancies.exchange.serializers import SINGULAR, ImportSerializer
from vacancies.exchange.sources import SourceRow

CLOCK_SKEW = timedelta(minutes=5)
ESCAPED = "Contains escaped HTML such as &lt;p&gt;; pass --unescape-html to convert it."

# Words in the names of keys of other systems that say whether, until when or to whom a vacancy is
# shown.
_STATE_WORD = re.compile(
    "status|state|draft|(un)?publish(ed)?|publication|(in)?active|visible|visibility|hidden|archived?"
    "|clos(e[ds]?|ing)|expir(e[ds]?|y|ation)|deleted|removed|withdrawn|(on|off)line|live|scheduled|audience"
    "|unlisted|deadline|until|valid|embargo|enabled|disabled|approv(ed|al)|pending|review(ed)?|moderat(ed|ion)"
    "|suspended|paused|cancell?ed|trashed|filled|workflow|releas(ed?|ing)|end(s|ed)?"
)
# Words that say so only without others: "internal", not "title_internal".
_LONE_WORDS = {"internal", "external", "public", "private", "confidential", "only"}
_LONE_WORDS |= {"open", "listed", "shown", "on", "hold"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


class ItemReader:
    """Reads rows into validated items and reports refusals and changes.

    `unescape` converts texts whose HTML is escaped; without it, such rows are refused.
    """

    def __init__(self, report: VacancyReport, *, unescape: bool) -> None:
        self.report = report
        self.unescape = unescape
        self._unknown_keys: set[str] = set()

    def read(self, row: SourceRow) -> JsonObject | None:
        """Return the validated item of `row`. Return None if the row was refused."""
        if isinstance(row.item, InvalidLine):
            self.report.refuse(row.name, Remark("", "json", row.item.reason))
            return None
        changes: list[Remark] = []
        serializer = ImportSerializer(data=row.item, context={"zone": row.zone, "changes": changes})
        pk = row.item.get("id") if isinstance(row.item, dict) else None
        if (key := repeated_key(row.item)) is not None:
            remark = Remark(str(key), "repeated_key", "Occurs more than once in this item.")
            self.report.refuse(row.name, remark, id=pk)
            return None
        if row.is_from_service:
            del serializer.fields["status"]
        if not serializer.is_valid():
            self.report.refuse(row.name, *faults(serializer.errors), id=pk)
            return None
        item = dict(serializer.validated_data)
        unknown = row.item.keys() - serializer.fields.keys()
        brand = [(item["brand"], "description", "brand.description")] if item.get("brand") else []
        errors = [
            *convert_texts(item, changes, "" if self.unescape else ESCAPED, brand),
            *_in_the_future(row, item),
        ]
        if not row.is_from_service:  # a service publishes what it lists
            errors += _state_keys(unknown)
        if errors:
            self.report.refuse(row.name, *errors, id=pk)
            return None
        if not item.get("language", "stated"):  # an empty one must not undo a guess
            del item["language"]
        for singular, keyword in SINGULAR.items():
            if singular in item:
                labels = item.pop(singular)
                item[keyword] = item.get(keyword) or labels
        if unknown := unknown - self._unknown_keys:
            self._unknown_keys |= unknown
            text = f"unknown keys were ignored: {', '.join(sorted(unknown))}"
            self.report.add("note", row.name, Remark("", "unknown_keys", text), id=item["id"])
        for change in changes:
            self.report.note(row, item, change.field, change.code, change.message)
        return item


def _state_keys(unknown: Iterable[str]) -> list[Remark]:
    """The errors for unknown keys that seem to state the publication.
    Ignoring one could publish a draft.
    """
    text = (
        "Looks like a state of the vacancy. Use status, published_at and publish_until, or "
        "remove it."
    )
    errors = []
    for key in sorted(unknown):
        words = {word.lower() for word in _WORD.findall(key)} - {"is"}
        if any(map(_STATE_WORD.fullmatch, words)) or (words and words <= _LONE_WORDS):
            errors.append(Remark(key, "state_key", text))
    return errors


def _in_the_future(row: SourceRow, item: JsonObject) -> list[Remark]:
    if "created_at" not in item or item["created_at"] <= timezone.now() + CLOCK_SKEW:
        return []
    zone = row.zone or timezone.get_current_timezone()
    text = (
        f"Is in the future; received {row.item['created_at']}. Is {zone} the time zone of the "
        "source?"
    )
    return [Remark("created_at", "future", text)]
