"""Every table and figure of the paper, and what goes beyond it: run from a checkout by ``python -m experiments``.

Imports only point down this list:

- ``studies``: one module for each experiment by name; ``goals``: figures with limits;
- ``comparison``: what is made of run records; ``reporting``: how it is shown;
- ``running``: how runs are made and kept; ``specs``: what is run.
"""
