import django.db.models.deletion
import django.utils.timezone
import jobsite.ops.online_migrations
import vacancies.models.saved_view
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("vacancies", "0008_version_before"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("query", models.CharField(blank=True, default="", max_length=2000)),
                ("columns", models.JSONField(default=list)),
                (
                    "is_shared",
                    models.BooleanField(
                        default=False,
                        help_text="Everybody who can open the list sees this view and its name.",
                        verbose_name="shared",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=vacancies.models.saved_view.keep_shared,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "saved view",
                "verbose_name_plural": "saved views",
                "ordering": ["name", "pk"],
            },
        ),
        migrations.CreateModel(
            name="ListPreference",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("columns", models.JSONField(default=list)),
                ("has_shortcuts", models.BooleanField(default=True)),
                (
                    "default_view",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="vacancies.savedview",
                    ),
                ),
            ],
            options={
                "verbose_name": "list preference",
                "verbose_name_plural": "list preferences",
            },
        ),
        migrations.CreateModel(
            name="VacancyCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("block", models.BigIntegerField()),
                ("status", models.CharField(max_length=20)),
                ("count", models.IntegerField()),
                (
                    "brand",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="vacancies.brand",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.UniqueConstraint(fields=("owner", "name"), name="saved_view_name_once"),
        ),
        jobsite.ops.online_migrations.DropTriggers("vacancies_vacancycount"),
    ]
