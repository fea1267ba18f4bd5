"""The database of solutions: rows, code, its signature, and who may write what."""
