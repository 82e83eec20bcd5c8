"""The revision, records of erasures, permissions of roles, and jobs."""

from django.db import migrations, models
from django.utils import timezone

from jobsite.db.tables import CreateModels, fields
from jobsite.ops.online_migrations import DropTriggers

REPLACED = (
    "0001_initial 0002_remove_watermark 0003_timeline 0005_erasures 0006_given_permissions 0007_job_runs "
).split()
TABLES = [
    migrations.CreateModel(
        "Revision",
        fields(
            number=models.BigIntegerField(default=0),
            shared=models.BigIntegerField(default=0, db_default=0),
            timeline=models.CharField(max_length=40, default="", db_default=""),
        ),
    ),
    migrations.CreateModel(
        "Erasure",
        fields(
            digest=models.CharField(max_length=64, primary_key=True, serialize=False),
            at=models.DateTimeField(default=timezone.now),
        ),
    ),
    migrations.CreateModel(
        "GivenPermissions",
        fields(
            role=models.CharField(max_length=150, primary_key=True, serialize=False),
            names=models.JSONField(default=list),
        ),
    ),
    migrations.CreateModel(
        "JobRun",
        fields(
            name=models.CharField(max_length=100, primary_key=True, serialize=False),
            completed_at=models.DateTimeField(default=timezone.now),
            failed_at=models.DateTimeField(null=True),
            error=models.CharField(max_length=200, default=""),
            outcomes=models.JSONField(default=dict),
            position=models.CharField(max_length=200, default=""),
        ),
    ),
]


class Migration(migrations.Migration):
    replaces = [("jobsite", name) for name in REPLACED]
    initial = True
    dependencies = []
    operations = [CreateModels(TABLES), DropTriggers("jobsite_pending_bump|jobsite_revision")]
