from django.db import migrations, models

from jobsite.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0009_files")]

    operations = [
        AddIndexOnline("vacancyoption", models.Index(fields=["option", "vacancy"], name="option_carriers")),
    ]
