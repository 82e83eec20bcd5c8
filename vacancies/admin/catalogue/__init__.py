"""Brands, recruiters, filters and forms."""
