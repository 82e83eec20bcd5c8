"""Let rejections ask for a reason and offer an email, where nobody changed the stage."""

from django.db import migrations


def offer(apps, schema_editor):
    template = apps.get_model("applications", "MailTemplate").objects.filter(name="Rejection")
    stages = apps.get_model("applications", "Stage").objects
    rejected = stages.filter(name="Rejected", kind="rejected", asks_reason="never", email=None)
    rejected.update(asks_reason="may", email=template.first())


class Migration(migrations.Migration):
    dependencies = [("applications", "0009_rejections")]
    operations = [migrations.RunPython(offer, migrations.RunPython.noop)]
