"""Delete the statistics by option, and index those by brand."""

from django.db import migrations, models

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("applications", "0004_postgresql")]
    operations = [
        migrations.RunSQL(
            "DELETE FROM applications_dailyapplications WHERE option_id IS NOT NULL",
            migrations.RunSQL.noop,
        ),
        AddIndexOnline(
            "dailyapplications", models.Index(fields=["day"], name="daily_applications_day")
        ),
    ]
