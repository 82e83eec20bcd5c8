"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.applicants import DecidedError, claim, verify, withdraw
from applications.operations.stages import move, receive, undo

__all__ = ["DecidedError", "claim", "move", "receive", "undo", "verify", "withdraw"]
