from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from django.core.management.base import CommandError, CommandParser

from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, uninterrupted
from vacancies.exchange.geonames import city_files, read_cities
from vacancies.facts.cities import FOLDER


class Command(BaseCommand):
    help = (
        "Make the files of cities that the admin, imports and propose_facts use, from two "
        "downloads of GeoNames (download.geonames.org/export/dump/, CC BY 4.0)."
    )
    needs_migrations = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "cities", metavar="CITIES", type=Path, help="cities500.zip, or its text"
        )
        parser.add_argument("regions", metavar="REGIONS", type=Path, help="admin1CodesASCII.txt")
        parser.add_argument(
            "--country",
            action="append",
            required=True,
            metavar="CODE",
            help="ISO 3166-1 code of a country to make a file of; may be repeated",
        )
        parser.add_argument(
            "--names-from",
            type=int,
            default=0,
            metavar="N",
            help="other names only of cities with at least N inhabitants (default: of all)",
        )
        parser.add_argument("--folder", type=Path, default=FOLDER, help=f"default: {FOLDER}")
        parser.add_argument(
            "--dry-run", action="store_true", help="count the cities, but write nothing"
        )

    def handle(self, *args: object, **options: Any) -> None:
        countries = sorted({country.upper() for country in options["country"]})
        try:
            with _lines(options["cities"]) as cities, _lines(options["regions"]) as regions:
                rows = list(read_cities(self.progress(cities)))
                files = city_files(rows, regions, countries, names_from=options["names_from"])
        except (OSError, BadZipFile, ValueError) as error:
            raise CommandError(f"The downloads cannot be read: {error}") from None
        counts = {country: sum(row.country == country for row in rows) for country in countries}
        if unknown := [country for country, count in counts.items() if not count]:
            raise UsageError(f"{options['cities']} has no city in {', '.join(unknown)}.")
        if not options["dry_run"]:
            with uninterrupted():
                options["folder"].mkdir(parents=True, exist_ok=True)
                for country, content in files.items():
                    (options["folder"] / f"{country}.json").write_text(content, encoding="utf-8")
        total = ", ".join(f"{country} {count}" for country, count in counts.items())
        self.finish(
            f"{'Would write' if options['dry_run'] else 'Wrote'} {len(files)} files of cities: "
            f"{total}.",
            cities=counts,
        )


@contextmanager
def _lines(path: Path) -> Iterator[IO[str]]:
    """Open a text, or the one text in a ZIP archive."""
    if path.suffix != ".zip":
        with path.open(encoding="utf-8", newline="\n") as file:
            yield file
        return
    with ZipFile(path) as archive, archive.open(archive.namelist()[0]) as inner:
        yield TextIOWrapper(inner, encoding="utf-8", newline="\n")
