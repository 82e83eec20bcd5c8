from typing import Any

from django.core.management import CommandError

from jobsite.ops.catalogs import compile_catalogs
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Compile the translations, which Django reads. Unlike Django's command, needs no GNU "
        "gettext."
    )
    requires_system_checks: list[str] = []
    needs_migrations = False

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            changed = compile_catalogs()
        except (OSError, ValueError) as error:
            raise CommandError(f"The translations were not compiled: {error}") from None
        self.finish(
            f"Compiled {changed} catalogs." if changed else "Nothing changed.", changed=changed
        )
