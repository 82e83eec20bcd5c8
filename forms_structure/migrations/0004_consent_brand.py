from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("forms_structure", "0003_field_names")]

    operations = [
        migrations.AddField(
            model_name="consenttext",
            name="brand_number",
            field=models.BigIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.AddIndex(
            model_name="consenttext",
            index=models.Index(
                fields=["brand_number", "language", "-version"], name="consent_texts_by_brand"
            ),
        ),
    ]
