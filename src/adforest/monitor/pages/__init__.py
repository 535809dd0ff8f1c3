"""The monitor's pages: sections made of a model's view, figures as SVG, the style sheet and the script."""

__all__: list[str] = []
