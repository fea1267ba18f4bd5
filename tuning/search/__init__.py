"""The search: timing in interleaved batches, the leaderboard, verification, memory and threads for it."""
