"""The texts of vacancies in other languages than their own."""

import django.db.models.deletion
from django.db import migrations, models

import vacancies.choices
from jobsite.db.tables import fields
from jobsite.text.iso_codes import LANGUAGES


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0010_feed_triggers")]
    operations = [
        migrations.CreateModel(
            "VacancyText",
            fields(
                vacancy=models.ForeignKey(
                    "vacancies.vacancy",
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="translations",
                    verbose_name="vacancy",
                ),
                language=models.CharField(
                    "language", max_length=2, choices=vacancies.choices.language_choices
                ),
                texts=models.JSONField("texts", default=dict),
                is_ready=models.BooleanField("ready", default=False),
                based_on=models.CharField(max_length=32, default="", editable=False),
            ),
            {
                "verbose_name": "translation of a vacancy",
                "verbose_name_plural": "translations of vacancies",
                "constraints": [
                    models.UniqueConstraint(
                        fields=["vacancy", "language"], name="text_once_per_language"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(language__in=LANGUAGES), name="text_language_known"
                    ),
                ],
            },
        ),
    ]
