"""Replace the read model of the public lists. Its rows are derived: the triggers' installer fills it again.

Processes of the previous release get an error from its queries, and answer with Django's views.
"""

import django.db.models.deletion
from django.db import migrations, models

import jobsite.ops.online_migrations


def newest(name, condition):
    newest_first = (models.OrderBy(models.F("publish_from"), descending=True),
                    models.OrderBy(models.F("vacancy"), descending=True))  # fmt: skip
    return models.Index(*newest_first, condition=condition, name=name)


EXTERNAL = models.Q(("is_expired", False), ("audience__in", ("public", "both")))
INTERNAL = models.Q(("is_expired", False), ("audience__in", ("internal", "both")))
HOT = models.Q(("is_hot", True))


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0003_search_index"), ("jobsite", "0002_remove_watermark")]
    operations = [
        jobsite.ops.online_migrations.DropTriggers(
            "vacancies_listedvacancy|vacancies_dailycount", forwards=True
        ),
        migrations.DeleteModel("DailyCount"),
        migrations.DeleteModel("ListedVacancy"),
        migrations.CreateModel(
            name="ListedVacancy",
            fields=[
                (
                    "vacancy",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="vacancies.vacancy",
                    ),
                ),
                ("audience", models.CharField(max_length=10)),
                ("is_hot", models.BooleanField()),
                ("publish_from", models.DateTimeField()),
                ("publish_until", models.DateTimeField(null=True)),
                ("brand_id", models.BigIntegerField(null=True)),
                ("form_id", models.BigIntegerField(null=True)),
                ("is_expired", models.BooleanField()),
                ("row_version", models.BigIntegerField()),
                ("v1", models.BinaryField(null=True)),
                ("v0_1", models.BinaryField(null=True)),
            ],
            options={
                "indexes": [
                    newest("listed_external", EXTERNAL),
                    newest("listed_hot", EXTERNAL & HOT),
                    newest("listed_internal", INTERNAL),
                    newest("listed_hot_internal", INTERNAL & HOT),
                    models.Index(
                        models.F("publish_from"),
                        condition=models.Q(("is_expired", False)),
                        name="listed_start",
                    ),
                    models.Index(models.F("is_expired"), models.F("publish_until"), name="listed_end"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BucketCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("start_at", models.DateTimeField()),
                ("start_id", models.BigIntegerField()),
                ("external", models.IntegerField()),
                ("hot", models.IntegerField()),
                ("internal", models.IntegerField()),
                ("hot_internal", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(models.F("start_at"), models.F("start_id"), name="bucket_start")],
            },
        ),
        jobsite.ops.online_migrations.DropTriggers("vacancies_listedvacancy|vacancies_bucketcount"),
    ]
