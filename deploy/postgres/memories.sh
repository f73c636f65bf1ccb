#!/bin/sh
# Makes the database and its plain role, which row-level security binds. The image runs it once, on an empty volume.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password ENGRAIN_PASSWORD
CREATE ROLE engrain LOGIN PASSWORD :'password';
CREATE DATABASE memories OWNER engrain ENCODING 'UTF8' TEMPLATE template0;
\connect memories
CREATE EXTENSION vector;
SQL
