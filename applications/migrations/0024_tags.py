import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


def key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("applications", "0023_duplicate_indexes")]

    operations = [
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", key()),
                ("name", models.CharField(max_length=40, verbose_name="name")),
                ("folded", models.CharField(max_length=80)),
                (
                    "brand",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="vacancies.brand",
                    ),
                ),
            ],
            options={
                "verbose_name": "tag",
                "verbose_name_plural": "tags",
                "ordering": ["folded", "pk"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("brand", "folded"), name="one_tag_per_brand"),
                    models.UniqueConstraint(
                        condition=Q(brand=None), fields=("folded",), name="one_tag_without_brand"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApplicationTag",
            fields=[
                ("id", key()),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tag_links",
                        to="applications.application",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="applications.tag",
                    ),
                ),
            ],
            options={
                "verbose_name": "tag of an application",
                "verbose_name_plural": "tags of applications",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("application", "tag"), name="application_tag_once")
                ],
            },
        ),
        migrations.AddField(
            model_name="application",
            name="phone_digits",
            field=models.CharField(blank=True, editable=False, max_length=9, null=True),
        ),
        migrations.AddField(
            model_name="stage",
            name="remind_days",
            field=models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                help_text="Applications that are in the stage for longer are on the start page, and in an email "
                "on Mondays. 0: never.",
                validators=[django.core.validators.MaxValueValidator(365)],
                verbose_name="days until a reminder",
            ),
        ),
    ]
