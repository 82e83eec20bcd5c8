from dataclasses import asdict

from jobsite.ops import doctor
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Check the environment: settings, system checks, database, migrations, cache, uploads, disk, mail, "
        "clock. Prints one line for each, with a remedy and without secrets. Exit code 1 for errors."
    )
    requires_system_checks: list[str] = []  # it runs and reports them
    needs_migrations = False

    def handle(self, *args: object, **options: object) -> None:
        self.report(list(doctor.examine()))

    def report(self, findings: list[doctor.Finding]) -> None:
        counts = {
            level: sum(finding.level == level for finding in findings) for level in ("error", "warning")
        }
        self.finish(
            f"{counts['error']} errors and {counts['warning']} warnings.",
            ok=not counts["error"],
            lines=map(str, findings),
            errors=counts["error"],
            warnings=counts["warning"],
            findings=[asdict(finding) for finding in findings],
        )
