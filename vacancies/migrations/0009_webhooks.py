"""The tables of webhooks."""

from django.conf import settings
from django.db import migrations, models

from jobsite.db.tables import fields
from vacancies.models.webhook import validate_receiver


class Migration(migrations.Migration):
    dependencies = [
        ("vacancies", "0008_integrations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            "Webhook",
            fields(
                name=models.CharField("name", max_length=100, unique=True),
                url=models.CharField("address", max_length=500, validators=[validate_receiver]),
                kind=models.CharField("kind", max_length=10, default="events"),
                brand=models.ForeignKey(
                    "vacancies.brand",
                    on_delete=models.CASCADE,
                    null=True,
                    blank=True,
                ),
                audience=models.CharField("list", max_length=10, default="public"),
                owner=models.ForeignKey(
                    settings.AUTH_USER_MODEL,
                    on_delete=models.SET_NULL,
                    null=True,
                    blank=True,
                    limit_choices_to={"is_staff": True},
                    related_name="+",
                ),
                secret_number=models.PositiveIntegerField(default=1, editable=False),
                secret_at=models.DateTimeField(null=True, editable=False),
                cursor=models.CharField(max_length=400, editable=False),
                pending_id=models.CharField(max_length=40, default="", editable=False),
                pending_body=models.TextField(default="", editable=False),
                pending_cursor=models.CharField(max_length=400, default="", editable=False),
                pending_at=models.DateTimeField(null=True, editable=False),
                state=models.CharField("status", max_length=10, default="active", editable=False),
                tries=models.PositiveSmallIntegerField(default=0, editable=False),
                next_at=models.DateTimeField(null=True, editable=False),
                sent_at=models.DateTimeField("last sent at", null=True, editable=False),
                told_at=models.DateTimeField(null=True, editable=False),
            ),
            {
                "verbose_name": "webhook",
                "verbose_name_plural": "webhooks",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            "WebhookAttempt",
            fields(
                webhook=models.ForeignKey(
                    "vacancies.webhook", on_delete=models.CASCADE, related_name="attempts"
                ),
                at=models.DateTimeField(),
                event=models.CharField(max_length=40),
                status=models.PositiveSmallIntegerField(null=True),
                reason=models.CharField(max_length=200, default=""),
                milliseconds=models.PositiveIntegerField(),
                answer=models.CharField(max_length=500, default=""),
            ),
            {"ordering": ["-pk"], "default_permissions": ()},
        ),
    ]
