import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobsite", "0004_revision_functions")]
    operations = [
        migrations.CreateModel(
            "Erasure",
            [
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        )
    ]
