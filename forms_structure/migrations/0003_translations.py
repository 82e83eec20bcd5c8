"""Translations of forms."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("forms_structure", "0002_postgresql")]
    operations = [
        migrations.AddField(
            "form",
            "translation_of",
            models.ForeignKey(
                "forms_structure.form",
                django.db.models.deletion.PROTECT,
                null=True,
                editable=False,
                related_name="translations",
                verbose_name="translation of",
            ),
        ),
        migrations.AddField(
            "form", "marks", models.JSONField(default=dict, db_default={}, editable=False)
        ),
        migrations.AddConstraint(
            "form",
            models.UniqueConstraint(
                "translation_of", "language", name="form_translated_once_per_language"
            ),
        ),
        migrations.AddConstraint(
            "form",
            models.CheckConstraint(
                condition=Q(translation_of=None) | Q(is_default=False),
                name="default_form_is_original",
            ),
        ),
    ]
