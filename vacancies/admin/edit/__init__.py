"""The form of a vacancy: opening, merging, saving."""
