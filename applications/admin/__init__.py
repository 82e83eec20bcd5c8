"""The admin of applications: a package per page. Importing a module registers it."""

from applications.admin import application  # noqa: F401 - importing registers
from applications.admin.catalogue import access, mail_template, message, stage  # noqa: F401
from applications.admin.interviews import steps  # noqa: F401
