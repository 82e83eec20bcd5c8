import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, uninterrupted
from jobsite.text.iso_names import language_name
from jobsite.types import JsonObject
from vacancies.facts import cities
from vacancies.operations.proposals import (
    Proposal,
    TypeProposal,
    Written,
    in_words,
    propose_employment_types,
    propose_languages,
    propose_places,
    write_employment_types,
    write_values,
)

BATCH = 50  # vacancies in a transaction
SHOWN = 10  # ids of vacancies in a line


class Command(BaseCommand):
    help = (
        "Propose the places of vacancies by their locations, their languages by their texts, and "
        "the employment types of options by their labels. Shows them, and writes them after "
        "confirmation. What is filled in stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--country",
            action="append",
            default=[],
            metavar="CODE",
            help="ISO 3166-1 code of the country of locations that name none; may be repeated: "
            + ", ".join(cities.countries()),
        )
        parser.add_argument("--yes", action="store_true", help="write without confirmation")
        parser.add_argument(
            "--dry-run", action="store_true", help="show the proposals, but write nothing"
        )

    def handle(self, *args: object, **options: Any) -> None:
        countries = _countries(options["country"])
        asks = not options["yes"] and not options["dry_run"]
        if asks and (self.json or not sys.stdin.isatty()):
            raise UsageError("There is no terminal for the confirmation: pass --dry-run or --yes.")
        proposals = Proposals(countries, at=timezone.now())
        if not self.json:
            for line in proposals.lines():
                self.stderr.write(line)
        done = Written()
        if options["dry_run"]:
            summary = f"Would write {proposals}."
        elif asks and proposals and not _is_confirmed(f"Write {proposals}?"):
            summary = "Nothing was written."
        else:
            self.write(proposals.rows, proposals.types, done)
            summary = f"Wrote {done}."
        lines = [f"vacancy {pk}: {reason}" for pk, reason in done.failed]
        self.finish(summary, ok=not done.failed, lines=lines, **proposals.data(), **_data(done))

    def write(
        self, rows: list[tuple[int, Proposal]], types: list[TypeProposal], done: Written
    ) -> None:
        self.written = lambda: f"Wrote {done}. Run the command again to continue."
        with uninterrupted():
            write_employment_types(types, done)
        with self.progress(total=len(rows), unit="vacancy") as bar:
            for start in range(0, len(rows), BATCH):
                with uninterrupted():
                    write_values(rows[start : start + BATCH], done, at=timezone.now())
                bar.update(BATCH)


class Proposals:
    """All that is proposed."""

    def __init__(self, countries: list[str], *, at: datetime) -> None:
        self.types = propose_employment_types()
        self.places = propose_places(countries, at=at)
        self.languages = propose_languages(at=at)
        self.rows = [
            (pk, each) for each in [*self.places, *self.languages] if each.value for pk in each.pks
        ]

    def __bool__(self) -> bool:
        return bool(self.rows or self.types)

    def __str__(self) -> str:
        columns = [each.column for _, each in self.rows]
        return in_words(Counter([*columns, *["options"] * len(self.types)]))

    def data(self) -> JsonObject:
        """Return what the command prints as JSON."""
        return {
            "locations": [
                {"location": each.location, "places": each.value}
                | {"vacancies": len(each.pks), "waiting": each.waiting}
                for each in self.places
            ],
            "languages": [
                {"language": each.value or None, "vacancies": each.pks, "waiting": each.waiting}
                for each in self.languages
            ],
            "options": [
                {"filter": each.option.filter.keyword, "label": each.option.label}
                | {"employment_type": each.employment_type, "vacancies": each.used}
                for each in self.types
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield a line for each location, language and option: the number of its vacancies, its
        text or the first vacancies, and the proposal.
        """
        yield from map(_place_line, filter(lambda each: each.pks, self.places))
        yield from map(_language_line, filter(lambda each: each.pks, self.languages))
        for type_ in self.types:
            label = f"{type_.option.filter.keyword}: {type_.option.label}"
            yield f"{type_.used:>6}  {label} -> {type_.employment_type}"
        if waiting := sum(each.waiting for each in [*self.places, *self.languages]):
            yield (
                f"{waiting:>6}  public vacancies are left out, because a change of them needs "
                "approval"
            )


def _countries(named: list[str]) -> list[str]:
    """Return the codes that --country named. Raise UsageError if one has no file of cities."""
    countries = [country.upper() for country in named]
    if unknown := [country for country in countries if country not in cities.countries()]:
        known = ", ".join(cities.countries())
        raise UsageError(
            f"--country {unknown[0]}: there is no file of its cities, only of {known}."
        )
    return countries


def _is_confirmed(question: str) -> bool:
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _data(done: Written) -> JsonObject:
    return {
        "written": {
            "vacancies": done.counts["places"],
            "languages": done.counts["language"],
            "options": done.counts["options"],
            "skipped": done.skipped,
        },
        "failed": [{"id": pk, "message": reason} for pk, reason in done.failed],
    }


def _place_line(each: Proposal) -> str:
    named = "; ".join(_address(place) for place in each.value) or "-"
    return f"{len(each.pks):>6}  {each.location} -> {named}"


def _language_line(each: Proposal) -> str:
    name = language_name(each.value, "en") if each.value else "- (not recognised)"
    first = ", ".join(map(str, each.pks[:SHOWN])) + (", …" if len(each.pks) > SHOWN else "")
    return f"{len(each.pks):>6}  texts of {first} -> {name}"


def _address(place: JsonObject) -> str:
    keys = ("postal_code", "locality", "region", "country")
    return ", ".join(filter(None, (str(place[key]) for key in keys)))
