from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# What Django calls the models and fields that are given no other name (jobsite/apps.py).
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
