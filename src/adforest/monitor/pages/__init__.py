"""The monitor's pages: sections made from the view of a model, figures as SVG, the style sheet and the script."""

__all__: list[str] = []
