"""Drop the table of knox's own tokens, which `applications.Token` takes the place of: nothing would empty
it when a user goes. Tokens issued before have to be issued anew."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("applications", "0002_stages")]
    operations = [migrations.RunSQL("DROP TABLE IF EXISTS knox_authtoken", migrations.RunSQL.noop)]
