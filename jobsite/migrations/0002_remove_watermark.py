from typing import Any

from django.db import migrations

# The function that the previous release installed sets the column. After all migrations it is replaced again.
REPLACE_FUNCTION = """
CREATE OR REPLACE FUNCTION jobsite_bump_revision() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO jobsite_revision AS r (id, number, shared) VALUES (1, 1, NEW.shared)
  ON CONFLICT (id) DO UPDATE SET number = r.number + 1, shared = r.shared + NEW.shared;
  DELETE FROM jobsite_pending_bump WHERE id = NEW.id;
  RETURN NULL;
END $$
"""


def replace_function(apps: Any, schema_editor: Any) -> None:
    """Without this, all writes would fail until the triggers are installed."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(REPLACE_FUNCTION)


class Migration(migrations.Migration):
    dependencies = [("jobsite", "0001_initial")]
    operations = [
        migrations.RunPython(replace_function, migrations.RunPython.noop),
        migrations.RemoveField("revision", "watermark"),
    ]
