"""Plans and loop nests: the decisions of a plan, applied to a canonical form, give a nest."""
