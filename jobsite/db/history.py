"""The migrations that a database has, and those that replace several of them."""

from collections.abc import Collection, Sequence

from django.db.migrations.loader import MigrationLoader

Name = tuple[str, str]  # app and migration


def replacements() -> dict[Name, Sequence[Name]]:
    """Return the migrations of this code, each with those that it replaces."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    return {name: migration.replaces for name, migration in loader.disk_migrations.items()}


def missing_parts(recorded: Collection[Name]) -> list[str]:
    """Return the replaced migrations that are not in `recorded`, although others of the same file
    are.
    """
    return [
        ".".join(name)
        for replaced in replacements().values()
        if any(name in recorded for name in replaced)
        for name in replaced
        if name not in recorded
    ]
