"""The table of applications that changed, for the systems that read them."""

from django.db import migrations, models

from jobsite.db.tables import CreateModels, fields

TABLES = [
    migrations.CreateModel(
        "Outgoing",
        fields(
            application=models.BigIntegerField(),
            brand=models.BigIntegerField(),
            mark=models.BigIntegerField(),
            is_gone=models.BooleanField(),
            at=models.DateTimeField(),
        ),
        {
            "default_permissions": (),
            "constraints": [
                models.UniqueConstraint(
                    fields=["application", "brand"], name="outgoing_once_per_brand"
                )
            ],
            "indexes": [
                models.Index(fields=["brand", "mark", "application"], name="outgoing_by_mark"),
                models.Index(fields=["at"], name="outgoing_by_time"),
            ],
        },
    ),
]


class Migration(migrations.Migration):
    dependencies = [("applications", "0006_no_statistics_by_option")]
    operations = [CreateModels(TABLES)]
