"""The admin of forms. vacancies.admin registers `FormAdmin`."""
