import sys
from collections import Counter
from collections.abc import Iterator
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
        "the "
        "employment types of options by their labels. Shows them, and writes them after "
        "confirmation. What "
        "is filled in stays."
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
        countries = [country.upper() for country in options["country"]]
        if unknown := [country for country in countries if country not in cities.countries()]:
            known = ", ".join(cities.countries())
            raise UsageError(
                f"--country {unknown[0]}: there is no file of its cities, only of {known}."
            )
        asks = not options["yes"] and not options["dry_run"]
        if asks and (self.json or not sys.stdin.isatty()):
            raise UsageError("There is no terminal for the confirmation: pass --dry-run or --yes.")
        at, types = timezone.now(), propose_employment_types()
        places, languages = propose_places(countries, at=at), propose_languages(at=at)
        rows = [(pk, each) for each in [*places, *languages] if each.value for pk in each.pks]
        if not self.json:
            for line in _lines(places, languages, types):
                self.stderr.write(line)
        what = in_words(Counter([*(each.column for _, each in rows), *["options"] * len(types)]))
        done = Written()
        if options["dry_run"]:
            summary = f"Would write {what}."
        elif asks and (rows or types) and not _is_confirmed(f"Write {what}?"):
            summary = "Nothing was written."
        else:
            self.write(rows, types, done)
            summary = f"Wrote {done}."
        lines = [f"vacancy {pk}: {reason}" for pk, reason in done.failed]
        data = _data(places, languages, types, done)
        self.finish(summary, ok=not done.failed, lines=lines, **data)

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


def _is_confirmed(question: str) -> bool:
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _data(
    places: list[Proposal], languages: list[Proposal], types: list[TypeProposal], done: Written
) -> JsonObject:
    """Return what the command prints as JSON."""
    return {
        "locations": [
            {"location": each.location, "places": each.value}
            | {"vacancies": len(each.pks), "waiting": each.waiting}
            for each in places
        ],
        "languages": [
            {"language": each.value or None, "vacancies": each.pks, "waiting": each.waiting}
            for each in languages
        ],
        "options": [
            {"filter": each.option.filter.keyword, "label": each.option.label}
            | {"employment_type": each.employment_type, "vacancies": each.used}
            for each in types
        ],
        "written": {
            "vacancies": done.counts["places"],
            "languages": done.counts["language"],
            "options": done.counts["options"],
            "skipped": done.skipped,
        },
        "failed": [{"id": pk, "message": reason} for pk, reason in done.failed],
    }


def _lines(
    places: list[Proposal], languages: list[Proposal], types: list[TypeProposal]
) -> Iterator[str]:
    """Yield a line for each location, language and option: the number of its vacancies, its text or
    the first vacancies, and the proposal.
    """
    for each in places:
        if each.pks:
            named = "; ".join(_address(place) for place in each.value) or "-"
            yield f"{len(each.pks):>6}  {each.location} -> {named}"
    for spoken in languages:
        if spoken.pks:
            name = language_name(spoken.value, "en") if spoken.value else "- (not recognised)"
            first = ", ".join(map(str, spoken.pks[:SHOWN])) + (
                ", …" if len(spoken.pks) > SHOWN else ""
            )
            yield f"{len(spoken.pks):>6}  texts of {first} -> {name}"
    for type_ in types:
        label = f"{type_.option.filter.keyword}: {type_.option.label}"
        yield f"{type_.used:>6}  {label} -> {type_.employment_type}"
    if waiting := sum(each.waiting for each in [*places, *languages]):
        yield (
            f"{waiting:>6}  public vacancies are left out, because a change of them needs approval"
        )


def _address(place: JsonObject) -> str:
    keys = ("postal_code", "locality", "region", "country")
    return ", ".join(filter(None, (str(place[key]) for key in keys)))
