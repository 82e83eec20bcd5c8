from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0019_fact_indexes")]
    operations = [
        migrations.CreateModel(
            name="SearchChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("vacancy_id", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="SearchTerm",
            fields=[
                ("term", models.TextField(primary_key=True, serialize=False)),
                ("ids", models.BinaryField()),
            ],
        ),
    ]
