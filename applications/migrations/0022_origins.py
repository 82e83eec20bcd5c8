import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


def key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0021_stage_email"),
        ("vacancies", "0022_drop_fact_indexes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Origin",
            fields=[
                ("id", key()),
                (
                    "channel",
                    models.CharField(
                        choices=[
                            ("email", "Email"),
                            ("phone", "Telephone"),
                            ("linkedin", "LinkedIn"),
                            ("fair", "Fair or event"),
                            ("referral", "Recommendation"),
                            ("agency", "Recruitment agency"),
                            ("open", "Open application"),
                            ("other", "Other"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "basis",
                    models.CharField(
                        choices=[
                            ("request", "The applicant applied"),
                            ("interest", "Legitimate interest: the applicant did not apply"),
                            ("consent", "Consent: the applicant is asked"),
                        ],
                        max_length=10,
                    ),
                ),
                ("added_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("informed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "application",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="origin",
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
            ],
            options={
                "verbose_name": "origin",
                "verbose_name_plural": "origins",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        "added_at",
                        condition=Q(basis="interest", informed_at=None),
                        name="origins_not_informed",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ConsentRequest",
            fields=[
                ("id", key()),
                (
                    "purpose",
                    models.CharField(
                        choices=[("application", "this application"), ("pool", "talent pool")], max_length=11
                    ),
                ),
                ("text", models.TextField()),
                ("version", models.PositiveIntegerField()),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("due_on", models.DateField()),
                ("reminded_at", models.DateTimeField(blank=True, null=True)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "answer",
                    models.CharField(
                        blank=True, choices=[("yes", "yes"), ("no", "no")], default="", max_length=3
                    ),
                ),
                ("until", models.DateField(blank=True, null=True)),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consent_requests",
                        to="applications.application",
                    ),
                ),
            ],
            options={
                "verbose_name": "consent request",
                "verbose_name_plural": "consent requests",
                "ordering": ["asked_at", "pk"],
                "default_permissions": (),
                "indexes": [models.Index("due_on", condition=Q(answer=""), name="consent_requests_due")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(answer=""),
                        fields=("application", "purpose"),
                        name="one_open_consent_request",
                    ),
                    models.CheckConstraint(
                        condition=Q(answer="", answered_at=None)
                        | Q(answer__in=("yes", "no"), answered_at__isnull=False),
                        name="consent_answer_has_time",
                    ),
                ],
            },
        ),
    ]
