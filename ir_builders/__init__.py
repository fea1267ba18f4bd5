"""LLVM IR from loop nests."""
