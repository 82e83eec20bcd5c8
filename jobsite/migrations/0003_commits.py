"""Which revision each transaction raised that changed what a feed shows (vacancies/feed)."""

from django.db import migrations, models

from jobsite.db.tables import CreateModels, fields
from jobsite.ops.online_migrations import DropTriggers

TABLES = [
    migrations.CreateModel(
        "Commit",
        fields(
            number=models.BigIntegerField(primary_key=True, serialize=False),
            mark=models.BigIntegerField(unique=True),
            at=models.DateTimeField(),
        ),
    ),
    migrations.CreateModel(
        "CursorGap",
        fields(after=models.BigIntegerField(), before=models.BigIntegerField()),
    ),
]


class Migration(migrations.Migration):
    dependencies = [("jobsite", "0002_postgresql")]
    operations = [CreateModels(TABLES), DropTriggers("jobsite_commit|jobsite_cursorgap")]
