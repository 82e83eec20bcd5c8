"""The admin of vacancies: a package per page. Importing a module registers it."""

from vacancies.admin.catalogue import (  # noqa: F401 - importing registers
    filter,
    integration,
    links,
    recruiter,
    webhook,
)
from vacancies.admin.edit import template  # noqa: F401
