"""Checks whether a running service conforms to the API.

Uses HTTP only and shares no code with the API, so that it can check any implementation: ours, an older
release, another program.
"""
