#!/bin/sh
# Start one program of a machine in a container: start.sh MACHINE PROGRAM. Used by compose.yaml only.
set -eu
machine=$1 program=$2
python3 /srv/jobsite/deploy/cluster/render.py /run/secrets/cluster.ini "$machine" > /dev/null
as() { user=$1; shift; exec setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"; }
case $program in
  etcd)
    chown -R etcd: /var/lib/etcd
    set -a
    . /etc/default/etcd
    as etcd etcd ;;
  patroni)
    install -d -o postgres -g postgres /var/run/postgresql
    chown postgres: /var/lib/postgresql
    as postgres patroni /etc/patroni/config.yml ;;
  redis) as redis redis-server /etc/redis/redis.conf ;;
  sentinel) as redis redis-sentinel /etc/redis/sentinel.conf ;;
  haproxy)
    install -d /run/haproxy
    exec haproxy -W -db -f /etc/haproxy/haproxy.cfg ;;
  nginx) exec nginx -g 'daemon off;' ;;
  database)  # once: the role and the database of the site, on whichever server is the primary
    password=$(sed -n 's/^site = //p' /run/secrets/cluster.ini)
    PGPASSWORD=$(sed -n 's/^superuser = //p' /run/secrets/cluster.ini)
    export PGPASSWORD
    address=$(sed -n "s/^$machine = \([^ ]*\).*/\1/p" /run/secrets/cluster.ini)
    until psql -h "$address" -p 5000 -U postgres -d postgres -qc 'SELECT 1' > /dev/null 2>&1; do sleep 1; done
    psql -h "$address" -p 5000 -U postgres -d postgres -tAc "SELECT 1 FROM pg_database WHERE datname = 'jobsite'" | grep -q 1 \
      || psql -h "$address" -p 5000 -U postgres -d postgres -v ON_ERROR_STOP=1 \
           -c "CREATE ROLE jobsite LOGIN PASSWORD '$password'" -c "CREATE DATABASE jobsite OWNER jobsite" ;;
  *) echo "start.sh: no program $program" >&2; exit 2 ;;
esac
