"""The cost model: measures of plans, their features, the linear model and the networks fitted to timings."""
