"""Publication actions, approval and versions."""
