from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("jobsite", "0001_initial")]
    operations = [migrations.RemoveField("revision", "watermark")]
