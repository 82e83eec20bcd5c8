"""The page of an application, and the pages of its parts."""
