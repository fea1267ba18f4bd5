"""Machine code in the process: LLVM, kernels, threads, arguments' addresses, forks and interrupts."""
