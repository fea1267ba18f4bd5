"""As much of pycuda as the project uses, over whatever libcuda is loaded; the real one is built with CUDA's headers."""
