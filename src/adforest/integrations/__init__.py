"""adforest in other libraries and programs; each module needs an extra of its own, imported only on request."""
