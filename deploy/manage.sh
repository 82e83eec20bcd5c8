#!/bin/sh
# manage.py as the account of the site, from any folder: ln -s /srv/jobsite/deploy/manage.sh /usr/local/bin/manage.py
set -eu
site=$(dirname "$(dirname "$(readlink -f "$0")")")
exec runuser -u jobsite -- "$site/.venv/bin/python" "$site/manage.py" "$@"
