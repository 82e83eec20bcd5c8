"""The earlier name of `update_statistics`, which installed timers call."""

from applications.management.commands.update_statistics import Command

__all__ = ["Command"]
