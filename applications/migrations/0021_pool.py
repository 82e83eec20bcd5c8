"""Consents to the talent pool."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0020_teams")]
    operations = [
        migrations.AddField(
            "consentrequest", "left_at", models.DateTimeField(null=True, blank=True)
        ),
        migrations.AddField(
            "consentrequest", "brand_number", models.BigIntegerField(null=True, blank=True)
        ),
        migrations.AddField(
            "consentrequest",
            "employer",
            models.CharField(max_length=200, blank=True, default="", db_default=""),
        ),
    ]
