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
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # our own commands report more: jobsite/ops/commands.py
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
