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
from applications.operations.consents import answer, open_request
from applications.operations.interviews import reply as reply_to_interview
from applications.operations.pool import join_pool, pool_states
from applications.operations.stages import (
    Move,
    Moved,
    create_application,
    current_changes,
    move,
    move_if_unchanged,
    undo_moves,
)
from applications.operations.submitting import Attempt, submit_application

__all__ = [
    "AccountExistsError",
    "Attempt",
    "DecidedError",
    "Move",
    "Moved",
    "answer",
    "claim",
    "create_account",
    "create_application",
    "current_changes",
    "join_pool",
    "move",
    "move_if_unchanged",
    "new_account",
    "open_request",
    "pool_states",
    "reply_to_interview",
    "submit_application",
    "undo_moves",
    "verify",
    "withdraw_application",
]
