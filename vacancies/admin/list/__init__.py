"""The list of vacancies."""
