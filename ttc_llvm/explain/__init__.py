"""Every stage of one problem, for people: `ttc explain` and `solution.explain()`."""

from .explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
