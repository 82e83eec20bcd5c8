from django.apps import AppConfig


class FormsStructureConfig(AppConfig):
    name = "forms_structure"
    verbose_name = "application forms"
