"""The demo: ADF along 34 embedded batches, a table and a picture."""
