"""Runs the servers of OpenStack Swift, with Debian's Python: swift_servers.py FOLDER PART=PORT...

FOLDER has PART.conf for each of them, and proxy.conf. One process imports Swift and forks the
servers, because each import takes a second.
"""

import os
import sys

from swift.common.ring import RingBuilder
from swift.common.wsgi import run_wsgi

folder, ports = sys.argv[1], dict(word.split("=") for word in sys.argv[2:])
for part, port in ports.items():
    builder = RingBuilder(part_power=1, replicas=1, min_part_hours=0)
    builder.add_dev(
        {
            "region": 1,
            "zone": 1,
            "ip": "127.0.0.1",
            "port": int(port),
            "device": "disk",
            "weight": 1,
        }
    )
    builder.rebalance()
    builder.get_ring().save(f"{folder}/{part}.ring.gz")
for part in ports:
    if not os.fork():
        sys.exit(run_wsgi(f"{folder}/{part}.conf", f"{part}-server", verbose=True))
sys.exit(run_wsgi(f"{folder}/proxy.conf", "proxy-server", verbose=True))
