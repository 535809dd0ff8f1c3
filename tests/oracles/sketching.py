"""Counts of cells, value by value."""

from math import isnan

import numpy as np


def count_cells(X, rows, bounds, n_categories, n_known):
    m, n_bounds = bounds.shape
    counts, unseen = np.zeros((m, n_bounds + 2), dtype=int), np.zeros(m, dtype=int)
    values = {}
    for i in rows.tolist():
        for j, value in enumerate(X[i].tolist()):
            if isnan(value):
                counts[j, -1] += 1
                continue
            if n_categories[j]:
                codes = bounds[j].tolist()
                cell = codes.index(value) if value in codes else n_bounds
                unseen[j] += bool(n_known[j]) and value >= n_known[j]
            else:
                cell = sum(bound < value for bound in bounds[j])
            counts[j, cell] += 1
            values.setdefault((j, cell), set()).add(value)
    mixed = [[len(values.get((j, cell), ())) > 1 for cell in range(n_bounds + 2)] for j in range(m)]
    return counts, unseen, np.array(mixed)
