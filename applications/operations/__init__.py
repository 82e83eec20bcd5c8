"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.stages import move, receive, undo

__all__ = ["move", "receive", "undo"]
