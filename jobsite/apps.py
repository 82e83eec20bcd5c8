from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin import apps as admin
from django.db.models.signals import post_migrate, pre_migrate


class AdminConfig(admin.AdminConfig):
    """Django's admin with our site, which `admin.site` then is."""

    default = False  # of this module, JobsiteConfig is
    default_site = "jobsite.admin_site.AdminSite"

    def ready(self) -> None:
        super().ready()  # imports the admin of each app
        import_module("jobsite.office")


class JobsiteConfig(AppConfig):
    name = "jobsite"

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from jobsite.accounts import sessions  # noqa: F401 - importing registers the receiver
        from jobsite.admin import checks as role_checks  # noqa: F401 - importing registers the checks
        from jobsite.demo import checks as demo_checks  # noqa: F401 - importing registers the checks
        from jobsite.ops import checks, jobs, server_checks  # noqa: F401 - importing registers the checks
        from jobsite.serving import revision

        if "allauth" in settings.INSTALLED_APPS:
            from jobsite.accounts import sign_in  # allauth is an optional dependency

            sign_in.hide_from_admin()
        pre_migrate.connect(revision.drop_triggers, sender=self)
        post_migrate.connect(revision.create_triggers, sender=self)
