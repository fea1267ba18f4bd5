"""Arrays of callers, whatever library they come from, as one value."""
