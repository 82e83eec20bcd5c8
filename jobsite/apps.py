from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import models
from django.db.models.signals import class_prepared, post_migrate, pre_migrate
from django.dispatch import receiver
from django.utils import translation
from django.utils.translation import gettext_lazy

OURS = ("forms_structure", "vacancies", "applications")


class JobsiteConfig(AppConfig):
    name = "jobsite"

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from jobsite.accounts import sessions  # noqa: F401 - importing registers the receiver
        from jobsite.demo import checks as demo_checks  # noqa: F401 - importing registers the checks
        from jobsite.ops import checks  # noqa: F401 - importing registers the checks
        from jobsite.serving import revision

        if "allauth" in settings.INSTALLED_APPS:
            from jobsite.accounts import sign_in  # allauth is an optional dependency

            sign_in.hide_from_admin()
        pre_migrate.connect(revision.drop_triggers, sender=self)
        post_migrate.connect(revision.create_triggers, sender=self)


@receiver(class_prepared)
def translate_names(sender: type[models.Model], **kwargs: Any) -> None:
    """Translate the names that Django derives for our models and fields.

    A lazy `verbose_name` in the model would be part of a migration. The catalogs contain the derived names
    because each app lists them in `NAMES` of its `apps` module.
    """
    meta: Any = sender._meta
    if meta.app_label not in OURS:
        return
    for named in (meta, *meta.local_fields, *meta.local_many_to_many):
        if isinstance(named.verbose_name, str):
            named.verbose_name = gettext_lazy(named.verbose_name)
    if "verbose_name_plural" not in meta.original_attrs:
        with translation.override(None):  # Django appends an s to the English name
            meta.verbose_name_plural = gettext_lazy(str(meta.verbose_name_plural))
