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
        pre_migrate.connect(revision.unwatch, sender=self)
        post_migrate.connect(revision.watch)


@receiver(class_prepared)
def translate_names(sender: type[models.Model], **kwargs: Any) -> None:
    """Translate the default verbose names of models and fields. Each app lists them in `NAMES`, for the
    catalogs. `verbose_name=` in the models would need migrations."""
    meta: Any = sender._meta
    if meta.app_label not in OURS:
        return
    for thing in (meta, *meta.local_fields, *meta.local_many_to_many):
        if isinstance(thing.verbose_name, str):
            thing.verbose_name = gettext_lazy(thing.verbose_name)
    if "verbose_name_plural" not in meta.original_attrs:
        with translation.override(None):  # the default is the name with an s
            meta.verbose_name_plural = gettext_lazy(str(meta.verbose_name_plural))
