from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_save
from django.utils.translation import gettext_lazy as _

PERMISSIONS = [_("Exports applications")]  # as in vacancies/apps.py


class ApplicationsConfig(AppConfig):
    name = "applications"
    verbose_name = _("applicants")

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from applications import checks  # noqa: F401 - importing registers the checks
        from applications.alerts.operations import replace_values
        from applications.manage.events import begin
        from applications.manage.triggers import create_triggers
        from vacancies.models import Webhook
        from vacancies.operations.options import values_replaced

        values_replaced.connect(replace_values)
        post_migrate.connect(create_triggers, sender=self)
        pre_save.connect(begin, sender=Webhook)
