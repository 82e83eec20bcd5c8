import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0016_access_erase"),
        ("vacancies", "0021_search_triggers"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="reply_to",
            field=models.EmailField(blank=True, db_default="", default="", editable=False, max_length=254),
        ),
        migrations.AddField(
            model_name="message",
            name="sender",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=320),
        ),
        migrations.CreateModel(
            name="BrandMail",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sender_name",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="If empty, and there is an address: the name of the brand.",
                        max_length=80,
                        verbose_name="name of the sender",
                    ),
                ),
                (
                    "sender_address",
                    models.EmailField(
                        blank=True, default="", max_length=200, verbose_name="address of the sender"
                    ),
                ),
                (
                    "reply_to",
                    models.EmailField(
                        blank=True,
                        default="",
                        help_text="Replies to an email that a recruiter wrote go to that recruiter.",
                        max_length=254,
                        verbose_name="address for replies",
                    ),
                ),
                (
                    "signature_en",
                    models.TextField(
                        blank=True, default="", max_length=1000, verbose_name="signature in English"
                    ),
                ),
                (
                    "signature_nl",
                    models.TextField(
                        blank=True, default="", max_length=1000, verbose_name="signature in Dutch"
                    ),
                ),
                (
                    "signature_fr",
                    models.TextField(
                        blank=True, default="", max_length=1000, verbose_name="signature in French"
                    ),
                ),
                (
                    "signature_de",
                    models.TextField(
                        blank=True, default="", max_length=1000, verbose_name="signature in German"
                    ),
                ),
                (
                    "brand",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="mail", to="vacancies.brand"
                    ),
                ),
            ],
            options={
                "verbose_name": "emails of a brand",
                "verbose_name_plural": "emails of brands",
                "default_permissions": (),
            },
        ),
    ]
