"""The store strategies: how a tile of each is lowered. `writing.resolve` decides which one serves."""
