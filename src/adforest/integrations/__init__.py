"""adforest in other libraries: each module needs an extra of its own, and is imported only when asked for."""
