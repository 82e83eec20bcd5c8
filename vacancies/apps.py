from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

# Default verbose names of models and fields, for the translation catalogs (jobsite/apps.py).
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
    _("content"),
    _("created at"),
    _("description"),
    _("file"),
    _("filter"),
    _("filter option"),
    _("filter options"),
    _("filters"),
    _("function"),
    _("head recruiter"),
    _("image"),
    _("keyword"),
    _("label"),
    _("location"),
    _("members"),
    _("name"),
    _("offer"),
    _("option"),
    _("options"),
    _("phone"),
    _("profile"),
    _("publish from"),
    _("publish until"),
    _("recruiter"),
    _("recruiters"),
    _("short description"),
    _("status"),
    _("title"),
    _("updated at"),
    _("vacancy"),
    _("vacancy recruiter"),
    _("vacancy recruiters"),
    _("value"),
    _("version"),
    _("versions"),
    _("video"),
]
# Names of our permissions. The database has them in English (jobsite/admin/users.py).
PERMISSIONS = [
    _("Reads internal vacancies where they are limited"),
    _("Works for every brand"),
]


class VacanciesConfig(AppConfig):
    name = "vacancies"
    # Whose rows the public sees (jobsite/serving/revision.py), and which of them many vacancies share.
    shown = ("Vacancy", "VacancyOption", "VacancyRecruiter", "Attachment")
    shared = ("Brand", "Recruiter", "Filter", "FilterOption")
    verbose_name = _("Vacancies")

    def ready(self) -> None:
        from vacancies.readmodel import listing  # models cannot be imported before ready()

        post_migrate.connect(listing.watch, sender=self)
