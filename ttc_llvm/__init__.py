"""A tensor transposition compiler: LLVM IR planned, compiled, tuned and run in the process."""
