"""Contractions by kernels of our own: operands are packed from where they lie, C is written in place."""
