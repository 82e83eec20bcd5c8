"""The stress test: concurrent writers, and readers that check every response."""
