"""Translations of the labels of filters and options."""

from django.db import migrations

from vacancies.fields import LabelsField


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0012_vacancy_text_triggers")]
    operations = [
        migrations.AddField("filter", "translations", LabelsField()),
        migrations.AddField("filteroption", "translations", LabelsField()),
    ]
