from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from jobsite.commands import Command as BaseCommand
from vacancies import lint
from vacancies.models import Brand, Vacancy


class Command(BaseCommand):
    help = "Tell what is wrong (exit 1) or doubtful about brands and vacancies that are or will be public."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--fix", action="store_true", help="clean texts that were written around the models"
        )
        parser.add_argument("--dry-run", action="store_true", help="with --fix: tell, but write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        at = timezone.now()
        fixed = 0
        if options["fix"]:
            for model in (Brand, Vacancy):
                for row in model._default_manager.order_by("pk").iterator(chunk_size=500):
                    if lint.unclean_fields(row):
                        fixed += 1
                        if not options["dry_run"]:
                            lint.clean(row, at=at)

        found = [finding for brand in Brand.objects.order_by("pk") for finding in lint.about_brand(brand)]
        vacancies = lint.with_doubts(Vacancy.objects.select_related("brand"), at=at).order_by("pk")
        for vacancy in self.progress(vacancies.iterator(chunk_size=500), total=Vacancy.objects.count()):
            found += lint.about_vacancy(vacancy, at=at)
        errors = sum(finding.is_error for finding in found)
        summary = f"{errors} errors and {len(found) - errors} warnings."
        if options["fix"]:
            summary = f"{'Would clean' if options['dry_run'] else 'Cleaned'} {fixed} rows. {summary}"
        self.finish(
            summary,
            ok=not errors,
            lines=map(str, found),
            errors=errors,
            fixed=fixed,
            findings=[asdict(finding) for finding in found],
        )
