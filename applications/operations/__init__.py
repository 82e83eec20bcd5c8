"""What changes applications: submissions, stages, withdrawal, and the accounts they belong to."""

from applications.operations.stages import move, receive

__all__ = ["move", "receive"]
