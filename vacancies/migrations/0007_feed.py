"""The tables of the feed."""

from django.db import migrations, models

from jobsite.db.tables import CreateModels, fields
from jobsite.ops.online_migrations import DropTriggers

TABLES = [
    migrations.CreateModel(
        "FeedEntry",
        fields(
            vacancy_id=models.BigIntegerField(primary_key=True, serialize=False),
            mark=models.BigIntegerField(),
            was_external=models.BooleanField(),
            was_internal=models.BooleanField(),
            has_moved=models.BooleanField(),
        ),
        {"indexes": [models.Index(fields=["mark", "vacancy_id"], name="feed_entry_mark")]},
    ),
    migrations.CreateModel(
        "FeedTouch",
        fields(
            mark=models.BigIntegerField(db_index=True),
            kind=models.CharField(max_length=10),
            object_id=models.BigIntegerField(default=0),
        ),
    ),
    migrations.CreateModel("FeedFormat", fields(version=models.CharField(max_length=40))),
]


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0006_no_statistics_by_option")]
    operations = [CreateModels(TABLES), DropTriggers("vacancies_(feedentry|feedtouch)")]
