"""Statistics of what became of applications, and of what was received by vacancy."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Coalesce

from jobsite.db.tables import fields

NUMBERS = [
    "answered",
    "days_to_answer",
    *(f"answered_in_{days}" for days in (1, 3, 7, 14)),
    "hired",
    "days_to_hire",
    *(f"hired_in_{days}" for days in (14, 30, 60, 90)),
]


def brand() -> models.Field:
    return models.ForeignKey(
        "vacancies.brand",
        null=True,
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0012_outgoing_entered_triggers"),
        ("vacancies", "0010_feed_triggers"),
    ]
    operations = [
        migrations.AddField(
            "dailyapplications", "vacancy_number", models.BigIntegerField(null=True)
        ),
        migrations.CreateModel(
            "DailyHiring",
            fields(
                day=models.DateField(),
                brand=brand(),
                **{name: models.IntegerField() for name in NUMBERS},
            ),
            {
                "constraints": [
                    models.UniqueConstraint("day", Coalesce("brand", 0), name="daily_hiring_unique")
                ]
            },
        ),
        migrations.CreateModel(
            "MonthlyStages",
            fields(
                month=models.DateField(),
                brand=brand(),
                vacancy_number=models.BigIntegerField(),
                step=models.BigIntegerField(),
                reason=models.BigIntegerField(),
                source=models.CharField(max_length=200),
                reached=models.IntegerField(),
                days=models.BigIntegerField(),
            ),
            {
                "constraints": [
                    models.UniqueConstraint(
                        "month",
                        Coalesce("brand", 0),
                        "vacancy_number",
                        "step",
                        "reason",
                        "source",
                        name="monthly_stages_unique",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "CountedApplication",
            fields(
                application=models.OneToOneField(
                    "applications.application",
                    on_delete=django.db.models.deletion.CASCADE,
                    primary_key=True,
                    related_name="counted",
                    serialize=False,
                ),
                source=models.CharField(max_length=200),
                facts=models.JSONField(),
            ),
            {"default_permissions": ()},
        ),
    ]
