from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Default names of models and fields, for the catalogs: jobsite/apps.py translates them.
NAMES = [
    _("action"),
    _("actor"),
    _("application"),
    _("applications"),
    _("at"),
    _("author"),
    _("created"),
    _("expiry"),
    _("name"),
    _("position"),
    _("result"),
    _("stage"),
    _("stages"),
    _("stage change"),
    _("stage changes"),
    _("status"),
    _("token"),
    _("tokens"),
    _("user"),
    _("vacancy"),
]


class ApplicationsConfig(AppConfig):
    name = "applications"
    verbose_name = _("applicants")

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from applications import checks  # noqa: F401 - importing registers the checks
