from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Default verbose names of models and fields, for the translation catalogs (jobsite/apps.py).
NAMES = [
    _("consent text"),
    _("consent texts"),
    _("created at"),
    _("extends"),
    _("form"),
    _("forms"),
    _("language"),
    _("name"),
    _("snapshot"),
    _("snapshots"),
    _("text"),
    _("updated at"),
    _("version"),
]


class FormsStructureConfig(AppConfig):
    name = "forms_structure"
    shared = ("Form", "ConsentText")  # whose rows the public sees (jobsite/serving/revision.py)
    verbose_name = _("application forms")
