"""As much of pycuda as the project uses, over whatever libcuda is loaded: pycuda itself is built with CUDA's headers."""
