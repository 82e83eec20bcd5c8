"""Kernel: the admin's base classes and menu. Importing it registers the admin of users and groups."""

from jobsite.admin import users  # noqa: F401 - importing registers
