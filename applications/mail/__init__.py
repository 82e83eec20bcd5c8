"""Emails about applications: their texts, the outbox and its delivery."""
