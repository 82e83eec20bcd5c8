"""Lookup of the person that a command is about."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from applications import privacy
from applications.models import Application, JobAlert
from applications.querysets import accounts_with, folded_address
from jobsite.ops.commands import UsageError


def account(username: str) -> User:
    """Return the account `username`. Raise UsageError."""
    try:
        return privacy.find(username=username)
    except privacy.NoSuchAccountError as error:
        raise UsageError(str(error)) from None


def add_person(parser: CommandParser) -> None:
    """Add the arguments of `find_person`."""
    parser.add_argument("username", nargs="?", help="the user name of an account")
    parser.add_argument(
        "--email",
        default="",
        metavar="ADDRESS",
        help="all applications and job alerts of this e-mail address, and the account with it",
    )


def find_person(options: dict[str, Any]) -> tuple[User | None, str]:
    """Return the account (None: there is none) and the e-mail address ("": not given) of the
    arguments. Raise UsageError. Its message names neither, because messages are logged.
    """
    username, address = options["username"], options["email"].strip()
    if bool(username) == bool(address):
        raise UsageError("Pass a user name or --email.")
    if username:
        return account(username), ""
    accounts = accounts_with(address)
    if len(accounts) > 1:
        raise UsageError("Several accounts have this e-mail address. Pass their user names first.")
    alerts = JobAlert.objects.filter(address_folded=folded_address(address))
    if not (accounts or Application.objects.from_address(address).exists() or alerts.exists()):
        raise UsageError("There is no account, application or job alert with this e-mail address.")
    return next(iter(accounts), None), address


def describe_person(user: User | None) -> str:
    """Return the beginning of a summary."""
    return "an account with" if user else "no account,"
