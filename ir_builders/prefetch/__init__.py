"""Prefetching: the lines of a later micro-tile or the rows of a later tile, by one iterator over the rows of a box."""
