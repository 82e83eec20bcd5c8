"""Cancellations of interviews that wait until the applicant sees a stage change."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0015_other_vacancy")]
    operations = [
        migrations.AddField(
            model_name="stagechange",
            name="cancels_interviews",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
