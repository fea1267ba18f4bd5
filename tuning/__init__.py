"""The search for the best plan, and its memory."""
