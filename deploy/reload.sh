#!/bin/sh
# New code for gunicorn's process $1 (its environment: WEB_CONCURRENCY), so that nobody waits: as many new workers
# beside the old ones, and when they have loaded the site, the old ones go. By HUP the old ones go at once, and who
# asks meanwhile waits for as long as loading takes. A changed gunicorn.conf.py or environment needs a restart.
set -eu
workers=$(seq "${WEB_CONCURRENCY:-2}")
for worker in $workers; do kill -TTIN "$1"; sleep 1; done  # one by one, or two signals are one
sleep "${RELOAD_SECONDS:-15}"
for worker in $workers; do kill -TTOU "$1"; sleep 1; done  # takes the oldest
