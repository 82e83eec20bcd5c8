"""What an applicant submitted: values, files, the form as it was, and the consent."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application
from jobsite.private_files import PrivateNameField
from vacancies.models import Vacancy


class FormSnapshot(models.Model):
    """The sections of a form as they were served. Submissions of the same form share one snapshot,
    so that the answers stay readable after the form changes.
    """

    digest = models.CharField(max_length=64, unique=True)
    sections = models.JSONField()
    # Of a translation: the sections of its original, for exports in one language.
    original = models.JSONField(null=True)

    class Meta:
        verbose_name = _("form snapshot")
        verbose_name_plural = _("form snapshots")

    def __str__(self) -> str:
        return self.digest


class Submission(models.Model):
    """The content of an application that came through a form (spec/applying.md)."""

    application = models.OneToOneField(
        Application, on_delete=models.CASCADE, related_name="submission"
    )
    values = models.JSONField()  # as sent, by field name
    snapshot = models.ForeignKey(FormSnapshot, on_delete=models.PROTECT, related_name="submissions")
    consent_text = models.TextField()
    consent_version = models.PositiveIntegerField()
    consented_at = models.DateTimeField()
    source = models.CharField(max_length=200, blank=True, default="")
    # A hash of the values and files: an equal submission within a day is the same one.
    fingerprint = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("submission")
        verbose_name_plural = _("submissions")

    def __str__(self) -> str:
        return str(self.application)


class ScanState(models.TextChoices):
    """The result of the virus scan of a file."""

    OFF = "off", _("not scanned: no scanner is configured")
    CLEAN = "clean", _("scanned: no virus")
    FAILED = "failed", _("not scanned: the scanner did not respond")


class PrivateFile(models.Model):
    """A file that was checked. It is stored under a random path below PRIVATE_ROOT."""

    original_name = models.TextField()  # as sent; only displayed, never used as a path
    path = PrivateNameField(max_length=100, unique=True)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    kind = models.CharField(max_length=10)  # detected from the content
    scan_state = models.CharField(max_length=10, choices=ScanState.choices, default=ScanState.OFF)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.path

    def facts(self) -> dict[str, object]:
        """Return what another row of the same content has, beside its path."""
        names = ("original_name", "size", "sha256", "kind", "scan_state")
        return {name: getattr(self, name) for name in names}


class SubmissionFile(PrivateFile):
    """A file of a submission."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="files")
    field = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("submission file")
        verbose_name_plural = _("submission files")
        ordering = ["pk"]
        indexes = [models.Index("sha256", name="files_of_content")]


class IdempotencyKey(models.Model):
    """An Idempotency-Key that a client sent. For a day, a request with the same key and content
    returns the same application.
    """

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="+")
    key_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="idempotency_keys"
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("idempotency key")
        verbose_name_plural = _("idempotency keys")
        constraints = [
            models.UniqueConstraint(fields=["vacancy", "key_hash"], name="idempotency_key_once")
        ]

    def __str__(self) -> str:
        return self.key_hash


class UsedProof(models.Model):
    """A proof of work that was used. It cannot be used again."""

    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = _("used proof")
        verbose_name_plural = _("used proofs")

    def __str__(self) -> str:
        return self.digest
