"""Models in other programs. Each module needs an extra of its own, and imports its library when it is called."""
