"""An imported item and its vacancy: the values that the item gives it."""

from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from django.conf import settings
from django.core.exceptions import ValidationError

from jobsite.types import JsonObject
from vacancies.choices import Keyword, VacancyStatus
from vacancies.exchange.comparison import as_shown, attachment_pairs, column_values, rows_of_item
from vacancies.exchange.fields import Remark
from vacancies.exchange.option_types import ImportOption
from vacancies.exchange.related import Note, RelatedRows
from vacancies.exchange.reports import VacancyReport
from vacancies.exchange.sources import SourceRow
from vacancies.history.versions import (
    Content,
    changed_content,
    columns_of,
    content_of,
)
from vacancies.models import Recruiter, Vacancy
from vacancies.operations.texts import cleaned_texts, settle_texts


class ItemRefusedError(Exception):
    """An item that cannot be imported. Its savepoint is rolled back."""

    def __init__(self, remark: Remark) -> None:
        super().__init__(str(remark))
        self.remark = remark


@dataclass
class Incoming:
    """The `item` of `row`, and the vacancy `stored`, None if it is new. The `vacancy` is a copy
    that gets the values of the item, and `rows` are those of its lists, in the format of
    Version.content. Keys that the item does not have change nothing.
    """

    row: SourceRow
    item: JsonObject
    stored: Vacancy | None
    at: datetime
    report: VacancyReport
    options: list[ImportOption] = field(default_factory=list)
    rows: Content = field(default_factory=dict)
    is_audience_only: bool = False  # another file decides the content
    changes: Content = field(default_factory=dict)  # what differs from the stored content
    changed: set[str] = field(default_factory=set)  # the names of that, and of times

    def __post_init__(self) -> None:
        self.vacancy = copy(self.stored) if self.stored else self._new()
        self.before: Content = content_of(self.stored) if self.stored else {}

    def _new(self) -> Vacancy:
        if "title" not in self.item:
            raise ItemRefusedError(Remark("title", "required", "This field is required."))
        created_at = self.item.get("created_at", self.at)
        vacancy = Vacancy(pk=self.item["id"], created_at=created_at, updated_at=self.at)
        vacancy.ordered_choices, vacancy.ordered_recruiter_links = [], []
        return vacancy

    def note(self, key: str, code: str, text: str) -> None:
        """Report a change of the value of `key`."""
        self.report.note(self.row, self.item, key, code, text)

    @property
    def _note_row(self) -> Note:
        return partial(self.note, "")

    def set_columns(self, related: RelatedRows, default_recruiter: Recruiter | None) -> None:
        values = column_values(self.item, self.vacancy)
        values |= self._people(related, default_recruiter)
        for name, value in values.items():
            setattr(self.vacancy, name, value)

    def _people(self, related: RelatedRows, default_recruiter: Recruiter | None) -> JsonObject:
        """Return the brand and head recruiter, by column, if the source has them. Null removes
        them, unless the vacancy is published and requires them.
        """
        item, vacancy = self.item, self.vacancy
        wanted: JsonObject = {}
        if item.get("brand"):
            wanted["brand"] = related.brand(item["brand"], self._note_row)
        if item.get("head_recruiter"):
            wanted["head_recruiter"] = related.recruiter(item["head_recruiter"], self._note_row)
        for name in ("brand", "head_recruiter"):
            if name not in item or item[name] or not getattr(vacancy, name):
                continue
            if self._is_required(name):
                text = "is empty in the source, but a published vacancy requires it; not changed"
                self.note(name, "kept", text)
            else:
                wanted[name] = None
        if default_recruiter and not wanted.get("head_recruiter", vacancy.head_recruiter):
            wanted["head_recruiter"] = default_recruiter
        return wanted

    def _is_required(self, name: str) -> bool:
        is_published = self.vacancy.status == VacancyStatus.PUBLISHED
        return is_published and (name == "head_recruiter" or settings.MULTI_BRANDING)

    def guess_language(self) -> None:
        """Set the language of a new vacancy to that of its texts, if it is recognised."""
        vacancy = self.vacancy
        language = vacancy.recognised_language()
        self.report.languages[language] += 1
        if not language:
            text = (
                f"not stated and not recognised in the texts; {vacancy.shown_language} is assumed"
            )
            self.note("language", "language_unknown", text)
        elif language != vacancy.shown_language:
            vacancy.language = language
            text = f"not stated; {language} was recognised in the texts"
            self.note("language", "language_guessed", text)

    def set_rows(self, related: RelatedRows) -> None:
        item = self.item
        for keyword in Keyword:
            self._set_options(keyword, related)
        if "recruiters" in item:
            people = [related.recruiter(data, self._note_row) for data in item["recruiters"] or ()]
            self.rows["recruiters"] = [[each.pk, str(each)] for each in dict.fromkeys(people)]
        self.rows |= rows_of_item(item, self.before)
        if "attachments" in item:
            self._set_attachments(attachment_pairs(item))

    def _set_options(self, keyword: Keyword, related: RelatedRows) -> None:
        if keyword not in self.item:
            self.options += (
                ImportOption(choice.option_id, keyword, choice.label, choice.employment_type)
                for choice in self.vacancy.ordered_choices
                if choice.keyword == keyword
            )
            return
        named = (related.option(keyword, label, self._note_row) for label in self.item[keyword])
        options = list(
            dict.fromkeys(
                ImportOption(row.pk, keyword, row.label, row.employment_type) for row in named
            )
        )
        self.options += options
        self.rows[keyword.value] = [[option.pk, option.label] for option in options]

    def _set_attachments(self, pairs: list[tuple[str, str]]) -> None:
        """Set the attachments with a URL. Those that were uploaded here stay."""
        known = self.before.get("attachments", [])
        if [(each["name"], each["url"]) for each in known if each["url"]] == pairs:
            return
        uploads = [each for each in known if not each["url"]]
        linked = [{"name": name, "file": "", "url": url} for name, url in pairs]
        self.rows["attachments"] = [*uploads, *linked]

    def compare(self) -> None:
        """Set what differs from the stored vacancy. Raise ItemRefusedError for texts that cannot be
        stored.
        """
        wanted = columns_of(self.vacancy) | self.rows
        try:
            wanted |= cleaned_texts(wanted, {**self.before, **wanted})
            for text in settle_texts(wanted, self.before, {}):
                self.note("translations", "unfinished", text)
        except ValidationError as error:
            raise ItemRefusedError(
                Remark("translations", "invalid", " ".join(error.messages))
            ) from error
        self.changes = changed_content(self.before, wanted)
        self.changed = set(self.changes)
        if self.stored and self.vacancy.created_at != self.stored.created_at:
            self.changed.add("created_at")

    def set_updated_at(self) -> None:
        """Set the time of the last change: that of the source, else now if something changed."""
        vacancy = self.vacancy
        before = vacancy.updated_at
        at = self.item.get("updated_at", self.at if self.changed else before)
        vacancy.updated_at = as_shown(at, before)
        if vacancy.updated_at != before:
            self.changed.add("updated_at")
