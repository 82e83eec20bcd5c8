"""The unsaved input of users in the form of a vacancy, and who has that form open."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from jobsite.db.transactions import retry_on_conflict
from jobsite.types import JsonObject
from vacancies.models.vacancy import Vacancy

AUTOSAVE_AGE = timedelta(days=30)
# A page reports every 20 s, and in the background at least once a minute.
PRESENT = timedelta(seconds=75)


class AutosaveQuerySet(models.QuerySet["Autosave"]):
    def of(self, user: User, vacancy: int | None) -> "AutosaveQuerySet":
        """Return the row of `user` for the vacancy with this id, or for a new vacancy (None)."""
        where = {"vacancy": vacancy} if vacancy else {"vacancy__isnull": True}
        return self.filter(user=user.pk, **where)

    def store(
        self, *, user: User, vacancy: int | None, page: str, data: JsonObject, at: datetime
    ) -> bool:
        """Store the input of `page`, unless it was saved or discarded.
        Return whether it was stored.
        """

        def write() -> bool:
            row = self.of(user, vacancy).select_for_update().first()
            if (row and row.page == page and row.data is None) or page in settled_pages(
                user, vacancy
            ):
                return False
            row = row or Autosave(user_id=user.pk, vacancy_id=vacancy)
            row.page, row.data, row.saved_at = page, data, at
            row.save()
            return True

        return retry_on_conflict(write)

    def mark_saved(self, *, user: User, vacancy: int | None, page: str, at: datetime) -> None:
        """Remove the input of `page`, which was saved or discarded. A request that is still on its
        way must not bring it back: the row remains without data. Nor must a copy in any browser:
        see SettledPage.
        """

        def write() -> None:
            row = self.of(user, vacancy).select_for_update().first()
            if row is None:
                Autosave.objects.create(user_id=user.pk, vacancy_id=vacancy, page=page, saved_at=at)
            elif row.page == page or row.data is None:
                row.page, row.data, row.saved_at = page, None, at
                row.save()
            SettledPage.objects.create(
                user_id=user.pk, vacancy_id=vacancy, page=page, settled_at=at
            )

        retry_on_conflict(write)


class Autosave(models.Model):
    """What a user has typed into the form of a vacancy, or of a new one, and not saved yet: the
    fields that a browser would post, by name. It has no files. Kept when the vacancy is deleted,
    because it can be restored (docs/decisions.md #180).
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    page = models.CharField(max_length=32)  # the page in which it was typed, see `mark_saved`
    data = models.JSONField(null=True)  # null: saved or discarded
    saved_at = models.DateTimeField()

    objects = AutosaveQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "vacancy"], name="autosave_once_per_vacancy"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(vacancy=None), name="autosave_of_one_new_vacancy"
            ),
        ]
        indexes = [models.Index(fields=["saved_at"], name="autosave_by_age")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.vacancy_id or 'new'}"


class SettledPage(models.Model):
    """A page of the form whose input was saved or discarded. Browsers on several computers keep
    copies of the input for 30 days: those of this page are not restored.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    page = models.CharField(max_length=32)
    settled_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["user", "vacancy"], name="settled_pages_of_user"),
            models.Index(fields=["settled_at"], name="settled_pages_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.vacancy_id or 'new'}"


def settled_pages(user: User, vacancy: int | None) -> list[str]:
    """Return the pages of the form of the vacancy, or of a new one, that `user` settled."""
    where = {"vacancy": vacancy} if vacancy else {"vacancy__isnull": True}
    rows = SettledPage.objects.filter(user=user.pk, **where)
    return list(rows.order_by("pk").values_list("page", flat=True).distinct())


class PresenceQuerySet(models.QuerySet["Presence"]):
    def report(self, *, user: User, vacancy: int, window: str, at: datetime) -> None:
        """Record that `user` has the form of the vacancy open in `window` at `at`."""
        own = self.filter(user=user.pk, vacancy=vacancy, window=window)
        if own.filter(seen_at__gte=at - PRESENT).update(seen_at=at):
            return
        times = {"opened_at": at, "seen_at": at}
        self.update_or_create(user_id=user.pk, vacancy_id=vacancy, window=window, defaults=times)

    def others(self, *, user: User, vacancy: int, window: str, at: datetime) -> "PresenceQuerySet":
        """Return who else has the form open, first come first:
        other users, and other windows of `user`.
        """
        present = self.filter(vacancy=vacancy, seen_at__gte=at - PRESENT)
        return (
            present.exclude(user=user.pk, window=window)
            .select_related("user")
            .order_by("opened_at", "pk")
        )


class Presence(models.Model):
    """A window in which a user has the form of a vacancy open. It reports until it is closed."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    window = models.CharField(max_length=32)
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    objects = PresenceQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["vacancy", "user", "window"], name="presence_once_per_window"
            )
        ]
        indexes = [models.Index(fields=["seen_at"], name="presence_by_age")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.vacancy_id}"


def purge_unsaved(*, now: datetime) -> int:
    """Delete what was not saved for 30 days, and who had a form open a day ago. Return the number
    of unsaved inputs.
    """
    Presence.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()
    SettledPage.objects.filter(settled_at__lt=now - AUTOSAVE_AGE).delete()
    old = Autosave.objects.filter(saved_at__lt=now - AUTOSAVE_AGE)
    count = old.filter(data__isnull=False).count()
    old.delete()
    return count
