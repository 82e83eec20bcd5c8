"""Kernel: checks whether a running service conforms to the API.

Uses HTTP only, so that it can check any implementation: ours, an older release, another program.
Shapes of bodies are those of the OpenAPI document that this code generates, not of the one that the
service publishes.
"""
