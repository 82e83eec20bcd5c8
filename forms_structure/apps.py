from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FormsStructureConfig(AppConfig):
    name = "forms_structure"
    # A change raises the revision (jobsite/serving/revision.py).
    shared_models = ("Form", "ConsentText")
    verbose_name = _("application forms")
