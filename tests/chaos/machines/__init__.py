"""The machines and servers of deploy/cluster, started from its own templates."""
