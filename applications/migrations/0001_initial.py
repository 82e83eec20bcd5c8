import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("vacancies", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Stage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="For recruiters only.", max_length=200, unique=True)),
                (
                    "embargo_days",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="In days. Until then, candidates see the previous status. 0: they see it immediately.",
                        verbose_name="delay before the candidate sees it",
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="AccessLog",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("application", models.PositiveBigIntegerField(verbose_name="application number")),
                (
                    "action",
                    models.CharField(
                        choices=[("view", "seen"), ("change", "changed"), ("export", "exported")],
                        max_length=20,
                    ),
                ),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "access",
                "verbose_name_plural": "access log",
                "ordering": ["-at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Application",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("is_spontaneous", models.BooleanField(default=False, verbose_name="open application")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="applied at"),
                ),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="applications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "vacancy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="applications",
                        to="vacancies.vacancy",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="HistoryEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("result", models.CharField(blank=True, default="", max_length=200)),
                ("planned_at", models.DateTimeField(verbose_name="scheduled for")),
                ("is_visible", models.BooleanField(default=False, verbose_name="visible to the applicant")),
                ("is_imported", models.BooleanField(default=False, editable=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="history",
                        to="applications.application",
                    ),
                ),
            ],
            options={
                "verbose_name": "interview or task",
                "verbose_name_plural": "interviews and tasks",
                "ordering": ["planned_at", "created_at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="StageChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("is_exempt_from_embargo", models.BooleanField(default=False)),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="applications.application",
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="changes",
                        to="applications.stage",
                    ),
                ),
            ],
            options={
                "ordering": ["at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Status",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "label_en",
                    models.CharField(blank=True, default="", max_length=200, verbose_name="in English"),
                ),
                (
                    "label_nl",
                    models.CharField(blank=True, default="", max_length=200, verbose_name="in Dutch"),
                ),
                (
                    "label_fr",
                    models.CharField(blank=True, default="", max_length=200, verbose_name="in French"),
                ),
                (
                    "label_de",
                    models.CharField(blank=True, default="", max_length=200, verbose_name="in German"),
                ),
            ],
            options={
                "verbose_name": "candidate-facing status",
                "verbose_name_plural": "candidate-facing statuses",
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("label_de", ""),
                            ("label_en", ""),
                            ("label_fr", ""),
                            ("label_nl", ""),
                            _negated=True,
                        ),
                        name="status_says_something",
                        violation_error_message="Enter the text in at least one language.",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="stage",
            name="status",
            field=models.ForeignKey(
                help_text="The status that candidates see.",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="stages",
                to="applications.status",
            ),
        ),
        migrations.CreateModel(
            name="Token",
            fields=[
                ("digest", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("token_key", models.CharField(db_index=True, max_length=25)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expiry", models.DateTimeField(blank=True, null=True)),
                ("password_mark", models.CharField(editable=False, max_length=64)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auth_token_set",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created"],
            },
        ),
        migrations.AddConstraint(
            model_name="application",
            constraint=models.UniqueConstraint(
                fields=("user", "vacancy", "created_at"), name="application_once"
            ),
        ),
    ]
