from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Default verbose names of models and fields, for the translation catalogs (jobsite/apps.py).
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
    _("planned at"),
    _("position"),
    _("result"),
    _("stage"),
    _("stages"),
    _("stage change"),
    _("stage changes"),
    _("status"),
    _("steps"),
    _("token"),
    _("tokens"),
    _("user"),
    _("vacancy"),
]


class ApplicationsConfig(AppConfig):
    name = "applications"
    verbose_name = _("applicants")
