#!/usr/bin/env python
"""Django's command line for the job site."""

import os
import sys
import warnings


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    # Django may only be imported when it is known which settings to use
    from django.core.management import execute_from_command_line

    if sys.argv[1:2] == ["doctor"]:  # it also reports settings that cannot be read
        report_unreadable_settings()
    execute_from_command_line(sys.argv)


def report_unreadable_settings() -> None:
    """Run doctor without Django's set-up if the settings cannot be read, and exit."""
    # needs DJANGO_SETTINGS_MODULE
    from django.conf import settings
    from django.core.management.base import CommandError

    try:
        with warnings.catch_warnings(action="ignore"):  # they may contain a URL with its password
            settings.INSTALLED_APPS  # noqa: B018 - reads the settings
    except Exception as error:
        unreadable = error
    else:
        return
    settings.configure(LOGGING_CONFIG=None)
    # need configured settings
    from jobsite.management.commands.doctor import Command
    from jobsite.ops.doctor import describe_unreadable

    command = Command()
    command.json = sys.argv[-1].endswith("json")
    try:
        command.report([describe_unreadable(unreadable)])
    except CommandError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # our own commands report more: jobsite/ops/commands.py
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
