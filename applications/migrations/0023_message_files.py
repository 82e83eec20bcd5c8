"""Files of emails to applicants."""

import django.db.models.deletion
from django.db import migrations, models

from jobsite.db.tables import CreateModels, fields

SCANS = [
    ("off", "not scanned: no scanner is configured"),
    ("clean", "scanned: no virus"),
    ("failed", "not scanned: the scanner did not respond"),
]
TABLES = [
    migrations.CreateModel(
        "MessageFile",
        fields(
            original_name=models.TextField(),
            path=models.CharField(max_length=100, unique=True),
            size=models.PositiveBigIntegerField(),
            sha256=models.CharField(max_length=64),
            kind=models.CharField(max_length=10),
            scan_state=models.CharField(max_length=10, choices=SCANS, default="off"),
            message=models.ForeignKey(
                "applications.message",
                on_delete=django.db.models.deletion.CASCADE,
                related_name="files",
            ),
        ),
        {
            "verbose_name": "file of an email",
            "verbose_name_plural": "files of emails",
            "default_permissions": (),
            "ordering": ["pk"],
        },
    )
]


class Migration(migrations.Migration):
    dependencies = [("applications", "0022_pool_index")]
    operations = [CreateModels(TABLES)]
