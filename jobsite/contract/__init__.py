"""Whether a running service keeps the promises of the interface.

Asks over HTTP only and shares no code with the API, so that it can hold any deployment of the
interface to account: ours, an older release, another program.
"""
