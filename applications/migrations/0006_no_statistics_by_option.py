"""Remove the columns of statistics by option."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("applications", "0005_statistics_by_brand")]
    operations = [
        migrations.RemoveIndex("dailyapplications", "daily_applications_option"),
        migrations.RemoveField("dailyapplications", "option"),
    ]
