from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobsite", "0002_remove_watermark")]
    operations = [
        migrations.AddField(
            "revision", "timeline", models.CharField(db_default="", default="", max_length=40)
        )
    ]
