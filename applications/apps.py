from django.apps import AppConfig


class ApplicationsConfig(AppConfig):
    name = "applications"
    verbose_name = "applicants"
