from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Default names of models and fields, for the catalogs: jobsite/apps.py translates them.
NAMES = [
    _("attachment"),
    _("attachments"),
    _("audience"),
    _("author"),
    _("brand"),
    _("brands"),
    _("change"),
    _("company"),
    _("contact"),
    _("changes"),
    _("content"),
    _("decided at"),
    _("decided by"),
    _("decision note"),
    _("emailed"),
    _("created at"),
    _("description"),
    _("file"),
    _("filter"),
    _("filter option"),
    _("filter options"),
    _("filters"),
    _("function"),
    _("image"),
    _("keyword"),
    _("label"),
    _("location"),
    _("members"),
    _("note"),
    _("outcome"),
    _("name"),
    _("offer"),
    _("option"),
    _("options"),
    _("phone"),
    _("profile"),
    _("publish from"),
    _("recruiter"),
    _("recruiters"),
    _("short description"),
    _("status"),
    _("submitted at"),
    _("submitted by"),
    _("title"),
    _("updated at"),
    _("updated by"),
    _("vacancy"),
    _("vacancy recruiter"),
    _("vacancy recruiters"),
    _("value"),
    _("version"),
    _("versions"),
    _("video"),
]
# Custom permissions, stored in English and translated by jobsite/admin/users.py.
PERMISSIONS = [
    _("Reads internal vacancies where they are limited"),
    _("Works for every brand"),
    _("Approves vacancies of brands with approval"),
]


class VacanciesConfig(AppConfig):
    name = "vacancies"
    # Changes of these rows raise the revision (jobsite/serving/revision.py). Many vacancies share the latter.
    tracked_models = ("Vacancy", "VacancyOption", "VacancyRecruiter", "Attachment")
    shared_models = ("Brand", "Recruiter", "Filter", "FilterOption")
    verbose_name = _("Vacancies")

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from vacancies import checks  # noqa: F401 - importing registers the checks
