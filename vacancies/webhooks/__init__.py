"""Webhooks: other systems are told when a list changes (docs/integrations.md).

A webhook is a client of the feed. `events` finds what changed after its cursor, `sending` makes the
request, and `delivery` is the job of the dispatcher that does both and tries again.
"""
