"""How results are shown: chapters in a terminal, as Markdown and on an HTML page, with plots."""
