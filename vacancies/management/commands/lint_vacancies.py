from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, uninterrupted
from vacancies.models import Brand, Vacancy
from vacancies.quality import findings as quality
from vacancies.quality.warnings import with_warnings

MAX_FINDINGS = 20  # findings of each rule, without --limit


class Command(BaseCommand):
    help = (
        "Check brands and vacancies that are or will be public. Lists the first errors (exit 1) "
        "and warnings of each rule, and their number."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--fix", action="store_true", help="clean texts that were stored by raw SQL"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="with --fix: count the rows, but write nothing"
        )
        parser.add_argument(
            "--rule",
            action="append",
            metavar="RULE",
            help=f"list only findings of this rule; may be repeated: {', '.join(quality.RULES)}",
        )
        parser.add_argument(
            "--limit",
            type=int,
            metavar="N",
            help=(
                f"list at most N findings of each rule (default: {MAX_FINDINGS}; all with "
                "--format json)"
            ),
        )

    def handle(self, *args: object, **options: Any) -> None:
        rules, limit = self.rules(options["rule"]), self.limit(options["limit"])
        fixed = self.fix(is_dry=options["dry_run"]) if options["fix"] else 0
        counts: Counter[tuple[str, bool]] = Counter()
        shown: list[quality.QualityFinding] = []
        for finding in self.findings():
            if finding.code in rules:
                counts[finding.code, finding.is_error] += 1
                if limit is None or counts[finding.code, finding.is_error] <= limit:
                    shown.append(finding)
        errors = sum(count for (_, is_error), count in counts.items() if is_error)
        summary = f"{errors} errors and {counts.total() - errors} warnings."
        if options["fix"]:
            summary = (
                f"{'Would clean' if options['dry_run'] else 'Cleaned'} {fixed} rows. {summary}"
            )
        totals = self.totals(counts)
        self.finish(
            summary,
            ok=not errors,
            lines=self.lines(shown, totals),
            errors=errors,
            fixed=fixed,
            totals=totals,
            findings=[asdict(finding) for finding in shown],
        )

    @staticmethod
    def rules(given: list[str] | None) -> Sequence[str]:
        if unknown := [rule for rule in given or () if rule not in quality.RULES]:
            raise UsageError(
                f"Unknown rule {unknown[0]!r}; the rules are {', '.join(quality.RULES)}."
            )
        return given or quality.RULES

    def limit(self, given: int | None) -> int | None:
        """Return how many findings of each rule are listed; None: all."""
        if given is not None and given < 0:
            raise UsageError(f"--limit must be 0 or more; received {given}.")
        return MAX_FINDINGS if given is None and not self.json else given

    @staticmethod
    def totals(counts: Counter[tuple[str, bool]]) -> list[dict[str, Any]]:
        """Return the number of findings by rule, errors first, then the most frequent rule."""
        rows = sorted(counts.items(), key=lambda row: (not row[0][1], -row[1], row[0]))
        return [
            {"rule": rule, "level": "error" if is_error else "warning", "count": count}
            for (rule, is_error), count in rows
        ]

    @staticmethod
    def lines(shown: list[quality.QualityFinding], totals: list[dict[str, Any]]) -> list[str]:
        lines = [str(finding) for finding in shown]
        if missing := sum(row["count"] for row in totals) - len(shown):
            lines.append(f"{missing} more; --limit N lists N of each rule.")
        return lines + [
            f"total: {row['count']} {row['level']}{'s' * (row['count'] != 1)} [{row['rule']}]"
            for row in totals
        ]

    def fix(self, *, is_dry: bool) -> int:
        """Save the rows that are not stored as they would be saved now. Return their number."""
        fixed = 0
        self.written = lambda: f"{fixed} rows were cleaned."
        for model in (Brand, Vacancy):
            for row in model._default_manager.order_by("pk").iterator(chunk_size=500):
                if quality.unclean_fields(row):
                    with uninterrupted():
                        if not is_dry:
                            quality.clean(row, at=timezone.now())
                        fixed += 1
        return fixed

    def findings(self) -> Iterator[quality.QualityFinding]:
        at = timezone.now()
        for brand in Brand.objects.order_by("pk"):
            yield from quality.about_brand(brand)
        vacancies = with_warnings(Vacancy.objects.select_related("brand"), at=at).order_by("pk")
        for vacancy in self.progress(
            vacancies.iterator(chunk_size=500), total=Vacancy.objects.count()
        ):
            yield from quality.about_vacancy(vacancy, at=at)
