"""Machines as rows of facts: CPUs and GPUs, by name, that plans are made for."""
