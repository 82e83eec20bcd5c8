from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FormsStructureConfig(AppConfig):
    name = "forms_structure"
    shared_models = ("Form", "ConsentText")  # a change raises the revision (jobsite/serving/revision.py)
    verbose_name = _("application forms")
