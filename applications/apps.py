from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

# Default names of models and fields, for the catalogs: jobsite/apps.py translates them.
NAMES = [
    _("action"),
    _("actor"),
    _("application"),
    _("applications"),
    _("at"),
    _("attempts"),
    _("author"),
    _("body"),
    _("brands"),
    _("created"),
    _("closing notice"),
    _("closing notices"),
    _("email language"),
    _("email languages"),
    _("email opt out"),
    _("email opt outs"),
    _("error"),
    _("expiry"),
    _("finished at"),
    _("first name"),
    _("form snapshot"),
    _("form snapshots"),
    _("idempotency key"),
    _("idempotency keys"),
    _("kind"),
    _("language"),
    _("last name"),
    _("message"),
    _("name"),
    _("next at"),
    _("position"),
    _("publish until"),
    _("queued at"),
    _("recipient"),
    _("result"),
    _("role"),
    _("sent at"),
    _("stage"),
    _("stage change"),
    _("stage changes"),
    _("stages"),
    _("status"),
    _("subject"),
    _("submission"),
    _("submission file"),
    _("submission files"),
    _("submissions"),
    _("to"),
    _("token"),
    _("tokens"),
    _("used proof"),
    _("used proofs"),
    _("user"),
    _("vacancy"),
]


class ApplicationsConfig(AppConfig):
    name = "applications"
    verbose_name = _("applicants")

    def ready(self) -> None:
        # models are not loaded when this module is imported
        from applications import checks  # noqa: F401 - importing registers the checks
