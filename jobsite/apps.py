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
        from jobsite.accounts import sessions  # noqa: F401 - registers checks and receivers
        from jobsite.ops import checks  # noqa: F401 - registers checks and receivers
        from jobsite.serving import revision

        if "allauth" in settings.INSTALLED_APPS:
            from jobsite.accounts import sign_in

            sign_in.hide_from_admin()
        pre_migrate.connect(revision.drop_triggers, sender=self)
        post_migrate.connect(revision.install_triggers)


@receiver(class_prepared)
def translate_names(sender: type[models.Model], **kwargs: Any) -> None:
    """Look up, in the reader's language, the names that Django makes of those of a model and its fields.
    In the models they would each be a migration; the catalogs learn them from `NAMES` of the app."""
    meta: Any = sender._meta
    if meta.app_label not in OURS:
        return
    for thing in (meta, *meta.local_fields, *meta.local_many_to_many):
        if isinstance(thing.verbose_name, str):
            thing.verbose_name = gettext_lazy(thing.verbose_name)
    if "verbose_name_plural" not in meta.original_attrs:
        with translation.override(None):  # it is the other one with an s
            meta.verbose_name_plural = gettext_lazy(str(meta.verbose_name_plural))
