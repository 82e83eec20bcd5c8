"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.applicants import (
    AccountExistsError,
    DecidedError,
    claim,
    create_account,
    new_account,
    verify,
    withdraw,
)
from applications.operations.stages import move, move_if_unchanged, receive, undo
from applications.operations.submitting import submit

__all__ = [
    "AccountExistsError",
    "DecidedError",
    "claim",
    "create_account",
    "move",
    "move_if_unchanged",
    "new_account",
    "receive",
    "submit",
    "undo",
    "verify",
    "withdraw",
]
