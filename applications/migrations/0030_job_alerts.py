import django.db.models.deletion
import django.db.models.functions.comparison
import django.utils.timezone
from django.db import migrations, models

from jobsite.ops.online_migrations import (
    AddColumnOnline,
    AddForeignKeyOnline,
    AddIndexOnline,
    CreateModelOnline,
)

KINDS = [
    ("receipt", "receipt"),
    ("template", "email from a recruiter"),
    ("notice", "notice to an applicant who was added"),
    ("consent", "question for consent"),
    ("stage", "email of a stage"),
    ("withdrawal", "confirmation of a withdrawal"),
    ("mention", "mention in a note"),
    ("digest", "daily digest"),
    ("closing", "vacancies that close soon"),
    ("approval", "request for approval"),
    ("decision", "decision on a request for approval"),
    ("scorecard", "request for a scorecard"),
    ("stale", "applications without a decision"),
    ("invitation", "invitation of a colleague"),
    ("interview", "interview"),
    ("reminder", "reminder of an interview"),
    ("alert", "job alert"),
    ("alert_confirmation", "confirmation of a job alert"),
]


def key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("applications", "0029_email_kinds"), ("vacancies", "0024_saved_view_page")]

    operations = [
        CreateModelOnline(
            name="JobAlert",
            fields=[
                ("id", key()),
                ("address", models.EmailField(max_length=254, verbose_name="e-mail address")),
                ("address_folded", models.CharField(max_length=254)),
                ("query", models.CharField(blank=True, max_length=1000)),
                ("language", models.CharField(max_length=2)),
                (
                    "frequency",
                    models.CharField(
                        choices=[("daily", "Every day"), ("weekly", "Every Monday")], max_length=6
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("told_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ends_at", models.DateTimeField()),
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
                "verbose_name": "job alert",
                "verbose_name_plural": "job alerts",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        models.F("address_folded"),
                        models.F("query"),
                        models.F("frequency"),
                        django.db.models.functions.comparison.Coalesce("brand", 0),
                        name="job_alert_once",
                    )
                ],
            },
        ),
        CreateModelOnline(
            name="ToldVacancy",
            fields=[
                ("id", key()),
                (
                    "alert",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="told",
                        to="applications.jobalert",
                    ),
                ),
                (
                    "vacancy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="vacancies.vacancy",
                    ),
                ),
            ],
            options={
                "verbose_name": "vacancy of a job alert",
                "verbose_name_plural": "vacancies of job alerts",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("alert", "vacancy"), name="vacancy_told_once")
                ],
            },
        ),
        AddForeignKeyOnline(
            model_name="message",
            name="alert",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="messages",
                to="applications.jobalert",
            ),
        ),
        AddColumnOnline(
            model_name="message",
            name="is_bulk",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        AddIndexOnline(
            model_name="message",
            index=models.Index(
                condition=models.Q(("is_bulk", False)),
                fields=["state", "next_at"],
                name="messages_not_bulk",
            ),
        ),
        # choices only
        migrations.AlterField(
            model_name="message",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=20, verbose_name="kind"),
        ),
        migrations.AlterField(
            model_name="emailoptout",
            name="kind",
            field=models.CharField(choices=KINDS, db_default="digest", default="digest", max_length=20),
        ),
    ]
