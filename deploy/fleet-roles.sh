#!/bin/sh
# Creates the role of the Leaders when the container of PostgreSQL starts for the first time.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$WORKER_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE leader_worker LOGIN PASSWORD :'password';
REVOKE ALL ON DATABASE leader FROM PUBLIC;
GRANT CONNECT ON DATABASE leader TO leader_worker;
SQL
