"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.stages import move, receive, undo
from applications.operations.submitting import submit

__all__ = ["move", "receive", "submit", "undo"]
