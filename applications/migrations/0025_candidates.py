"""The proxy model of the list of candidates. It changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("applications", "0024_templates_of_brands")]
    operations = [
        migrations.CreateModel(
            name="Candidate",
            fields=[],
            options={
                "verbose_name": "candidate",
                "verbose_name_plural": "candidates",
                "proxy": True,
                "default_permissions": (),
                "indexes": [],
                "constraints": [],
            },
            bases=("applications.application",),
        )
    ]
