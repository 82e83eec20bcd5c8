"""The workplace of forms. `FormAdmin` is registered by the app whose vacancies use the forms."""

from forms_structure.admin import consent  # noqa: F401 - importing registers
