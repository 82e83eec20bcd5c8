#!/usr/bin/env python
"""Django's command line for the job site."""

import os
import sys
import warnings


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    from django.core.management import execute_from_command_line

    if sys.argv[1:2] == ["doctor"]:  # it works, as far as possible, where the settings cannot be read
        report_unreadable_settings()
    execute_from_command_line(sys.argv)


def report_unreadable_settings() -> None:
    from django.conf import settings
    from django.core.management.base import CommandError

    try:
        with warnings.catch_warnings(action="ignore"):  # they can show a URL with its password
            settings.INSTALLED_APPS  # noqa: B018 - reads them
    except Exception as error:
        refusal = error
    else:
        return
    settings.configure(LOGGING_CONFIG=None)
    from jobsite.management.commands.doctor import Command
    from jobsite.ops.doctor import describe_refusal

    command = Command()
    command.json = sys.argv[-1].endswith("json")
    try:
        command.report([describe_refusal(refusal)])
    except CommandError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # our own commands also say what they have written: jobsite/ops/commands.py
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
