"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.applicants import (
    AccountExistsError,
    DecidedError,
    claim,
    create_account,
    new_account,
    verify,
    withdraw_application,
)
from applications.operations.interviews import reply as reply_to_interview
from applications.operations.stages import (
    create_application,
    current_changes,
    move,
    move_if_unchanged,
    undo_moves,
)
from applications.operations.submitting import submit_application

__all__ = [
    "AccountExistsError",
    "DecidedError",
    "claim",
    "create_account",
    "create_application",
    "current_changes",
    "move",
    "move_if_unchanged",
    "new_account",
    "reply_to_interview",
    "submit_application",
    "undo_moves",
    "verify",
    "withdraw_application",
]
