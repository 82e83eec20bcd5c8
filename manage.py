#!/usr/bin/env python
"""Django's command line for the job site."""

import os
import sys
import warnings


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    # Django may only be imported when it is known which settings to use
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        with warnings.catch_warnings(action="ignore"):  # they may contain a URL with its password
            settings.INSTALLED_APPS  # noqa: B018 - reads the settings
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except (KeyError, ValueError) as error:
        sys.exit(describe_unreadable(error))
    execute_from_command_line(sys.argv)


def describe_unreadable(error: Exception) -> str:
    """Name the environment variable whose value the error quotes."""
    names = [name for name, value in os.environ.items() if value and f"'{value}'" in str(error)]
    hint = ", ".join(names) or "the variable that was changed last"
    return f"The settings cannot be read: {type(error).__name__}: {error}. Check {hint}."


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # our own commands report more: jobsite/ops/commands.py
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
