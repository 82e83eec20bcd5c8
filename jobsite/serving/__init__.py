"""Kernel: what answers requests fast,
the response cache, the replica, revision numbers and rendered items.
"""

SOURCE = "jobsite.source"  # key of the WSGI environ: what produced the response, if not a view
