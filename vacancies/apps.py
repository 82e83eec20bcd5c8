from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

# Custom permissions, stored in English and translated by jobsite/admin/users.py.
PERMISSIONS = [
    _("Reads internal vacancies where they are limited"),
    _("Works for every brand"),
    _("Approves vacancies of brands with approval"),
]


class VacanciesConfig(AppConfig):
    name = "vacancies"
    # Changes of these rows raise the revision (jobsite/serving/revision.py). Many vacancies share
    # the latter.
    tracked_models = (
        "Vacancy",
        "VacancyOption",
        "VacancyRecruiter",
        "Attachment",
        "Place",
        "VacancyText",
        "BrandLink",
    )
    shared_models = ("Brand", "Recruiter", "Filter", "FilterOption")
    verbose_name = _("Vacancies")

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from vacancies import checks  # noqa: F401 - importing registers the checks
        from vacancies.feed.triggers import create_triggers
        from vacancies.search import triggers

        post_migrate.connect(triggers.after_migrations, sender=self)
        post_migrate.connect(create_triggers, sender=self)
        post_migrate.connect(note_format, sender=self)


def note_format(using: str, plan: object = None, **kwargs: object) -> None:
    """post_migrate receiver: an upgrade may change the format of items."""
    from vacancies.api.rendered_items import note_format  # models are loaded by now
    from vacancies.models import FeedFormat

    connection = connections[using]
    tables = connection.introspection.table_names()
    if plan is not None and using == DEFAULT_DB_ALIAS and FeedFormat._meta.db_table in tables:
        note_format()
