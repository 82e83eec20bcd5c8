"""Delete the statistics by option, and index those by brand."""

from django.db import migrations, models

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0004_postgresql")]
    operations = [
        migrations.RunSQL(
            "DELETE FROM vacancies_dailyvacancies WHERE option_id IS NOT NULL",
            migrations.RunSQL.noop,
        ),
        AddIndexOnline("dailyvacancies", models.Index(fields=["day"], name="daily_vacancies_day")),
    ]
