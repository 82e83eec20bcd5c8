from django.apps import AppConfig


class VacanciesConfig(AppConfig):
    name = "vacancies"
    verbose_name = "Vacancies"
