"""Plans and nests of GPU kernels."""
