"""Integrations and their tokens."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("vacancies", "0007_feed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Integration",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "every_brand",
                    models.BooleanField(
                        default=False,
                        help_text="Also vacancies without a brand.",
                        verbose_name="every brand",
                    ),
                ),
                ("scopes", models.JSONField(default=list)),
                (
                    "is_enabled",
                    models.BooleanField(
                        default=True,
                        help_text="If off, its tokens are refused.",
                        verbose_name="enabled",
                    ),
                ),
                (
                    "brands",
                    models.ManyToManyField(
                        blank=True,
                        related_name="integrations",
                        to="vacancies.brand",
                        verbose_name="brands",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="integration",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "integration",
                "verbose_name_plural": "integrations",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="IntegrationToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "start",
                    models.CharField(editable=False, max_length=8),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("expires_at", models.DateTimeField(editable=False)),
                (
                    "last_used_at",
                    models.DateTimeField(editable=False, null=True),
                ),
                (
                    "integration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="vacancies.integration",
                    ),
                ),
            ],
            options={
                "verbose_name": "token of an integration",
                "verbose_name_plural": "tokens of integrations",
                "ordering": ["pk"],
                "default_permissions": (),
            },
        ),
    ]
