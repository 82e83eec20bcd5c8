"""The WSGI application of the site under test:
its clock is the file STRESS_CLOCK, its buckets are small.
"""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from django.utils import timezone

from tests.chaos.stress.clock import Clock

time.time = Clock(Path(os.environ["STRESS_CLOCK"])).time
timezone.now = lambda: datetime.fromtimestamp(time.time(), UTC)

from jobsite.wsgi import application as application  # noqa: E402 - after the clock was replaced
from tests.chaos.stress.state import use_small_buckets  # noqa: E402

use_small_buckets(30)
