"""The database backend of processes that serve requests: see `base`."""
