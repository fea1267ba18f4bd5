"""Plans of GPU kernels: candidates, their cost, diversity seeds."""
