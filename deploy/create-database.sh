#!/bin/sh
# Create the site's role and database in the PostgreSQL of compose.yaml.
set -eu
psql --no-psqlrc -v ON_ERROR_STOP=1 -v site="$DATABASE_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE jobsite LOGIN PASSWORD :'site';
CREATE DATABASE jobsite OWNER jobsite;
SQL
