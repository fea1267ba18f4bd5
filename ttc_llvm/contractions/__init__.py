"""Contractions of tensors: products by BLAS around transpositions, as few as possible."""
