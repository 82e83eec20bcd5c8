"""Application forms, their saved versions, and consent texts."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from forms_structure.choices import Language
from forms_structure.fields import StructureField
from forms_structure.querysets import ConsentTextQuerySet, FormQuerySet
from forms_structure.structure import Structure
from jobsite.fields import WebURLField
from jobsite.languages import site_language, text_languages


class Form(models.Model):
    """An application form, shared by any number of vacancies.

    A form may extend another one: its sections follow those of the other. This gives a vacancy
    sections of its own without a copy of the rest.
    """

    name = models.CharField(
        _("name"), max_length=200, unique=True, help_text=_("For recruiters only.")
    )
    language = models.CharField(
        _("language"),
        max_length=2,
        choices=Language.choices,
        default=site_language,
        help_text=_("Language of the texts that the system adds: language levels and consent."),
    )
    extends = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="extensions",
        verbose_name=_("added after form"),
        help_text=_("The sections of this form are shown after the sections of the selected form."),
    )
    # None: an original. A translation is used wherever its original is, and has its structure.
    translation_of = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="translations",
        verbose_name=_("translation of"),
    )
    marks = models.JSONField(default=dict, db_default={}, editable=False)  # what is to translate
    is_default = models.BooleanField(
        _("the site's form"),
        default=False,
        help_text=_("Used for every vacancy if neither the vacancy nor its brand has a form."),
    )
    structure = StructureField()
    revision = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now, editable=False)

    objects = FormQuerySet.as_manager()

    class Meta:
        verbose_name = _("form")
        verbose_name_plural = _("forms")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"],
                condition=Q(is_default=True),
                name="one_default_form",
                violation_error_message=_("Another form is already the site's form."),
            ),
            models.CheckConstraint(
                condition=~Q(extends=models.F("pk")),
                name="form_extends_another",
                violation_error_message=_("A form cannot be added after itself."),
            ),
            models.CheckConstraint(
                condition=Q(extends__isnull=True) | Q(is_default=False),
                name="default_form_extends_none",
                violation_error_message=_("The site's form cannot be added after another form."),
            ),
            models.CheckConstraint(
                condition=Q(language__in=Language.values), name="form_language_known"
            ),
            models.UniqueConstraint(
                "translation_of", "language", name="form_translated_once_per_language"
            ),
            models.CheckConstraint(
                condition=Q(translation_of=None) | Q(is_default=False),
                name="default_form_is_original",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse chains of extensions. Saving a structure checks that names are unique."""
        if self.extends and (self.extends.extends_id or (self.pk and self.extensions.exists())):
            raise ValidationError(
                {"extends": _("Choose a form that is not itself added after another form.")}
            )

    @property
    def served_language(self) -> str:
        """The language of the form, or of the form that it extends."""
        return (self.extends or self).language

    def in_language(self, language: str) -> "Form":
        """Return its translation, else itself. One query, none if it is in this language."""
        if language == self.served_language or language not in text_languages():
            return self
        found = self.translations.select_related("extends").filter(language=language)
        return found.first() or self

    @property
    def whole_structure(self) -> Structure:
        """The sections that applicants see: those of the form that it extends, then its own."""
        return [*(self.extends.structure if self.extends else []), *self.structure]


class Snapshot(models.Model):
    """A saved version of a form."""

    form = models.ForeignKey(Form, on_delete=models.CASCADE, related_name="snapshots")
    revision = models.PositiveIntegerField()
    structure = StructureField()
    language = models.CharField(max_length=2, choices=Language.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # What created it, if not the builder.
    origin = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("snapshot")
        verbose_name_plural = _("snapshots")
        ordering = ["-revision"]
        constraints = [
            models.UniqueConstraint("form", "revision", name="one_snapshot_per_revision")
        ]

    def __str__(self) -> str:
        return gettext("%(form)s, version %(number)s") % {
            "form": self.form,
            "number": self.revision,
        }


class ConsentText(models.Model):
    """A version of the text that applicants consent to, in one language: the site's, or that of a
    brand. Versions are never changed, because a given consent refers to one by its unique number.
    """

    class Purpose(models.TextChoices):
        APPLICATION = "application", _("application")
        POOL = "pool", _("talent pool")

    purpose = models.CharField(
        _("purpose"),
        max_length=11,
        choices=Purpose.choices,
        default=Purpose.APPLICATION,
        db_default="application",
    )
    # None: the site's. No foreign key: forms know no brands, and the text outlives its brand.
    brand_number = models.BigIntegerField(null=True, blank=True, editable=False)
    language = models.CharField(
        _("language"), max_length=2, choices=Language.choices, default=site_language
    )
    version = models.PositiveIntegerField(_("version"), unique=True, editable=False)
    text = models.CharField(
        _("text"),
        max_length=1000,
        help_text=_(
            "What applicants agree to: by the checkbox of forms, or in answer to an email."
        ),
    )
    statement_url = WebURLField(_("privacy statement"), help_text=_("URL of the statement."))
    statement_label = models.CharField(
        _("link text"),
        max_length=200,
        blank=True,
        default="",
        help_text=_("If empty: “Privacy statement”."),
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    objects = ConsentTextQuerySet.as_manager()

    class Meta:
        verbose_name = _("consent text")
        verbose_name_plural = _("consent texts")
        ordering = ["-version"]
        indexes = [
            models.Index(
                fields=["brand_number", "language", "-version"], name="consent_texts_by_brand"
            )
        ]

    def __str__(self) -> str:
        language = self.get_language_display()
        return gettext("%(language)s, version %(number)s") % {
            "language": language,
            "number": self.version,
        }
