"""How users look at the list of vacancies: saved views, and what each user has chosen."""

from django.conf import settings
from django.db import models
from django.db.models.deletion import Collector
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


def keep_shared(
    collector: Collector, field: models.ForeignKey, rows: models.QuerySet, using: str
) -> None:
    """When a user is deleted: keep the shared views without an owner, and
    delete the private ones.
    """
    models.SET_NULL(collector, field, rows.filter(is_shared=True), using)
    models.CASCADE(collector, field, rows.filter(is_shared=False), using)


class SavedView(models.Model):
    """The filters, the order and the columns of a list under a name. It stores no rows: everybody
    who opens it sees those of their own brands. Only views of vacancies can be shared.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=keep_shared, null=True, related_name="saved_views"
    )
    page = models.CharField(
        max_length=50, default="vacancies.vacancy", db_default="vacancies.vacancy", editable=False
    )  # the model of the list
    name = models.CharField(_("name"), max_length=80)
    query = models.CharField(max_length=2000, blank=True, default="")  # of the address of the list
    columns = models.JSONField(default=list)  # names; empty: those of the user
    is_shared = models.BooleanField(
        _("shared"),
        default=False,
        help_text=_("Everybody who can open the list sees this view and its name."),
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="saved_view_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ListPreference(models.Model):
    """What a user has chosen for the list of vacancies. Users who chose nothing have no row."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    columns = models.JSONField(default=list)  # names in order; empty: the default columns
    default_view = models.ForeignKey(
        SavedView, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    has_shortcuts = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("list preference")
        verbose_name_plural = _("list preferences")

    def __str__(self) -> str:
        return str(self.user_id)
