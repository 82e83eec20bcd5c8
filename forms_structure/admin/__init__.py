"""The admin of forms. vacancies.admin registers `FormAdmin`."""

from forms_structure.admin import consent  # noqa: F401 - importing registers
