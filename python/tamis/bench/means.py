"""Means of ratios: who is put above and who below must not matter."""

import math
import statistics


def median_ratio(values):
    """Between two middle ones their geometric mean; None of none."""
    return round(math.exp(statistics.median(map(math.log, values))), 4) if values else None


def geometric_mean(values):
    """None of none."""
    return round(math.exp(sum(map(math.log, values)) / len(values)), 4) if values else None
