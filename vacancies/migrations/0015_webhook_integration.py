"""The integration whose applications a webhook is told about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0014_label_triggers")]
    operations = [
        migrations.AddField(
            "webhook",
            "integration",
            models.ForeignKey(
                "vacancies.integration",
                models.SET_NULL,
                null=True,
                blank=True,
                db_index=False,
                related_name="webhooks",
            ),
        ),
        *(
            migrations.AddField(
                "webhook",
                name,
                models.CharField(max_length=length, default="", db_default="", editable=False),
            )
            for name, length in (("application_cursor", 400), ("pending_event", 40))
        ),
    ]
