"""Since when the readers of a brand could read an application. Rows of before are of earlier
applications, which they know.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0010_rejection_as_installed")]
    operations = [
        migrations.AddField("outgoing", "entered", models.BigIntegerField(db_default=0, null=True)),
    ]
