"""Mutation check: sixty defects, and which tests find each of them."""
