"""Consent texts of the talent pool."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("forms_structure", "0003_translations")]
    operations = [
        migrations.AddField(
            "consenttext",
            "purpose",
            models.CharField(max_length=11, default="application", db_default="application"),
        ),
    ]
