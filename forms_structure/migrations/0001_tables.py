"""Application forms and consent texts."""

from django.conf import settings
from django.db import migrations, models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint
from django.utils import timezone

from forms_structure.fields import StructureField
from jobsite.db.tables import EMPTY, NULL, CreateModels, fields
from jobsite.fields import WebURLField
from jobsite.languages import site_language

USER = settings.AUTH_USER_MODEL
TABLES = [
    migrations.CreateModel(
        "Form",
        fields(
            name=models.CharField(max_length=200, unique=True),
            language=models.CharField(max_length=2, default=site_language),
            extends=models.ForeignKey(
                "forms_structure.form", models.PROTECT, related_name="extensions", **NULL
            ),
            is_default=models.BooleanField(default=False),
            structure=StructureField(blank=True, default=list),
            revision=models.PositiveIntegerField(default=1, editable=False),
            created_at=models.DateTimeField(default=timezone.now, editable=False),
            updated_at=models.DateTimeField(default=timezone.now, editable=False),
        ),
        {
            "verbose_name": "form",
            "verbose_name_plural": "forms",
            "ordering": ["name"],
            "constraints": [
                UniqueConstraint(
                    fields=("is_default",),
                    condition=Q(is_default=True),
                    name="one_default_form",
                    violation_error_message="Another form is already the site's form.",
                ),
                CheckConstraint(
                    condition=~Q(extends=F("pk")),
                    name="form_extends_another",
                    violation_error_message="A form cannot be added after itself.",
                ),
                CheckConstraint(
                    condition=Q(extends__isnull=True) | Q(is_default=False),
                    name="default_form_extends_none",
                    violation_error_message="The site's form cannot be added after another form.",
                ),
                CheckConstraint(
                    condition=Q(language__in=["en", "nl", "fr", "de"]), name="form_language_known"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Snapshot",
        fields(
            form=models.ForeignKey(
                "forms_structure.form", models.CASCADE, related_name="snapshots"
            ),
            revision=models.PositiveIntegerField(),
            structure=StructureField(blank=True, default=list),
            language=models.CharField(max_length=2),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            origin=models.CharField(max_length=200, **EMPTY),
            created_at=models.DateTimeField(default=timezone.now),
        ),
        {
            "verbose_name": "snapshot",
            "verbose_name_plural": "snapshots",
            "ordering": ["-revision"],
            "constraints": [UniqueConstraint("form", "revision", name="one_snapshot_per_revision")],
        },
    ),
    migrations.CreateModel(
        "ConsentText",
        fields(
            brand_number=models.BigIntegerField(**NULL, editable=False),
            language=models.CharField(max_length=2, default=site_language),
            version=models.PositiveIntegerField(unique=True, editable=False),
            text=models.CharField(max_length=1000),
            statement_url=WebURLField(max_length=1000, **EMPTY),
            statement_label=models.CharField(max_length=200, **EMPTY),
            created_at=models.DateTimeField(default=timezone.now, editable=False),
        ),
        {
            "verbose_name": "consent text",
            "verbose_name_plural": "consent texts",
            "ordering": ["-version"],
            "indexes": [
                Index(
                    fields=["brand_number", "language", "-version"], name="consent_texts_by_brand"
                )
            ],
        },
    ),
]


class Migration(migrations.Migration):
    replaces = [
        ("forms_structure", "0001_initial"),
        ("forms_structure", "0003_field_names"),
        ("forms_structure", "0004_consent_brand"),
    ]
    initial = True
    dependencies = [migrations.swappable_dependency(USER)]
    operations = [CreateModels(TABLES)]
