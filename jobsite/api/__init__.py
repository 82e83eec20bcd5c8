"""Kernel: what the versions of the API share. They are in the apps."""
