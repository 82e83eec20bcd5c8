"""Pages of candidates: all applications of a person, as far as the user may see them."""
