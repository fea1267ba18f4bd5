"""Which plan is best, and remembering it."""
