"""Saved views of other lists than that of vacancies."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0023_requisition")]

    operations = [
        migrations.AddField(
            "savedview",
            "page",
            models.CharField(
                db_default="vacancies.vacancy", default="vacancies.vacancy", editable=False, max_length=50
            ),
        ),
    ]
