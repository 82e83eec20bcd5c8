"""The sections of the original of a translated form."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0013_hiring_statistics")]
    operations = [migrations.AddField("formsnapshot", "original", models.JSONField(null=True))]
