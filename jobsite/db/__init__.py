"""Kernel: connection settings, locks between processes, transactions, tables in migrations."""
