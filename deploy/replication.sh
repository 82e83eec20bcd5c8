#!/bin/sh
# Initialise PostgreSQL of compose.yaml: the site's role and database, and the role and slot of the replica. The slot
# keeps the WAL that the replica has not read yet, up to max_slot_wal_keep_size.
set -eu
psql --no-psqlrc -v ON_ERROR_STOP=1 -v site="$DATABASE_PASSWORD" -v replication="$REPLICATION_PASSWORD" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE jobsite LOGIN PASSWORD :'site';
CREATE DATABASE jobsite OWNER jobsite;
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication';
SELECT pg_create_physical_replication_slot('replica');
SQL
echo "host replication replicator samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
