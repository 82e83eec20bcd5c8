"""Applications that a colleague joined, because they are of one person."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from jobsite.db.tables import NULL, CreateModels, fields

TABLES = [
    migrations.CreateModel(
        "PersonChange",
        fields(
            at=models.DateTimeField(default=django.utils.timezone.now),
            before=models.JSONField(),
            undone_at=models.DateTimeField(null=True),
            author=models.ForeignKey(
                settings.AUTH_USER_MODEL,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
            ),
        ),
        {
            "verbose_name": "joined applications",
            "verbose_name_plural": "joined applications",
            "default_permissions": (),
            "indexes": [models.Index(fields=["at"], name="person_changes_by_time")],
        },
    )
]


class Migration(migrations.Migration):
    dependencies = [("applications", "0017_delayed_cancellations_index")]
    operations = [
        CreateModels(TABLES),
        migrations.AddField(
            "Application", "person", models.BigIntegerField(**NULL, editable=False)
        ),
    ]
