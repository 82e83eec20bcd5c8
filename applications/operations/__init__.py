"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.stages import move, move_if_unchanged, receive, undo

__all__ = ["move", "move_if_unchanged", "receive", "undo"]
