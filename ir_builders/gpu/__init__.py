"""IR for GPUs: one kernel per plan, from the intrinsics of the target's row."""
