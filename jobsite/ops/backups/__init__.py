"""Backups: one archive of the database and the files, and restoring it.

An archive is a plain tar: the database (from pg_dump, or a compressed SQLite file), the files of
MEDIA_ROOT, the files of PRIVATE_ROOT that rows name, and as the last member `manifest.json`, with
the size and digest of each part. An archive without the manifest is truncated. If BACKUP_KEY is
set, a signature follows the tar (`jobsite.ops.signatures`).
"""
