"""Matrix products of tensors as they lie: packers, micro-kernels, and the loops around them."""
