"""Groups of blocks: many small tensors, of several shapes, transposed by one call."""
