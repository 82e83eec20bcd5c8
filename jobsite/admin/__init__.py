"""The admin's base classes, menu and roles. Importing it registers the admin of users and groups."""

from jobsite.admin import users  # noqa: F401 - importing registers
