from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Default names of models and fields, for the catalogs: jobsite/apps.py translates them.
NAMES = [
    _("consent text"),
    _("consent texts"),
    _("created at"),
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
    shared_models = ("Form", "ConsentText")  # a change raises the revision (jobsite/serving/revision.py)
    verbose_name = _("application forms")
