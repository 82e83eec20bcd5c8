"""The indexes of persons and of the newest applications."""

from django.db import migrations, models
from django.db.models import F, Q

from jobsite.ops.online_migrations import AddIndexOnline

INDEXES = [
    models.Index("person", condition=Q(person__isnull=False), name="applications_of_person"),
    models.Index(F("created_at").desc(), F("id").desc(), name="applications_newest"),
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("applications", "0018_persons")]
    operations = [AddIndexOnline("application", index) for index in INDEXES]
