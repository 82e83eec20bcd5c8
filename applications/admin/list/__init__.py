"""The list of applications: its filters, actions and saved views, and the board."""
