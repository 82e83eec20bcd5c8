"""Remove the columns of statistics by option and of the time to close."""

from django.db import migrations, models

NUMBER = models.PositiveIntegerField(default=0)
FIGURES = {
    "days_live": models.FloatField(default=0),
    "closed_in_7": NUMBER,
    "closed_in_30": NUMBER,
    "closed_in_60": NUMBER,
    "closed_in_90": NUMBER,
}


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0005_statistics_by_brand")]
    operations = [
        migrations.RemoveIndex("dailyvacancies", "daily_vacancies_option"),
        migrations.RemoveField("dailyvacancies", "option"),
        # Backwards, rows need a value.
        *(migrations.AlterField("dailyvacancies", name, field) for name, field in FIGURES.items()),
        *(migrations.RemoveField("dailyvacancies", name) for name in FIGURES),
    ]
