"""The space of plans: choices of every decision, seeds, neighbours, candidates in order of their cost."""
