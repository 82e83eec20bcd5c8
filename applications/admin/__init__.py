"""The admin of applications: one module per noun. Importing a module registers it."""

from applications.admin import (  # noqa: F401 - importing registers
    access,
    application,
    brand,
    mail_template,
    message,
    stage,
    step,
    user,
    vacancy,
)
