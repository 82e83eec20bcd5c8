from django.db import migrations, models

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0018_vacancy_facts_constraints")]

    operations = [
        AddIndexOnline(
            model_name="vacancy",
            index=models.Index(
                fields=[
                    "status",
                    "audience",
                    "publish_from",
                    "publish_until",
                    "brand",
                    "work_place",
                    "language",
                    "id",
                ],
                name="vacancy_facts",
            ),
        ),
    ]
