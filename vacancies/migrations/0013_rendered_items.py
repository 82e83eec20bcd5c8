"""Store items in a table of their own. The columns v1 and v0_1 of ListedVacancy stay for the previous release."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0012_wording")]
    operations = [
        migrations.CreateModel(
            name="RenderedItem",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "vacancy_id", "version", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.CharField(max_length=40)),
                ("row_version", models.BigIntegerField()),
                ("body", models.BinaryField()),
                (
                    "vacancy",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="vacancies.vacancy",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField("listedvacancy", "v1"),
                migrations.RemoveField("listedvacancy", "v0_1"),
            ]
        ),
    ]
