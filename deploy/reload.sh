#!/bin/sh
# Load new code into gunicorn's process $1 without a pause. The script starts WEB_CONCURRENCY new workers beside the
# old ones, and stops the old ones when the new ones have loaded the site. With HUP, the old workers stop at once,
# and requests wait while the new ones load. A changed gunicorn.conf.py or environment needs a restart.
set -eu
workers=$(seq "${WEB_CONCURRENCY:-2}")
for worker in $workers; do kill -TTIN "$1"; sleep 1; done  # pause, because two pending signals become one
sleep "${RELOAD_SECONDS:-15}"
for worker in $workers; do kill -TTOU "$1"; sleep 1; done  # stops the oldest worker
