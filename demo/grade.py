"""What the wall does to a picture: local contrast, then a film-like tone curve. Integers only, so exact everywhere.

A pixel depends on its neighbours up to RADIUS away. Tiles overlap by far more than that, so what a rank computes for
the pixels it owns is what it would have computed with the whole frame before it.
"""
import numpy as np

RADIUS = 6
_STRENGTH = 3  # quarters of the difference to the surroundings that are added


def _curve():
    """Per channel an S-shaped curve with warm lights and cool shadows, for values from -256 to 511."""
    x = np.clip(np.arange(-256, 512), 0, 255) / 255.0
    s_shaped = np.clip(x + 0.12 * np.sin(2 * np.pi * (x - 0.5)), 0, 1)
    tints = (s_shaped ** 0.94, s_shaped, 0.055 * (1 - x) + 0.93 * s_shaped)
    return [np.clip(np.rint(tint * 255), 0, 255).astype(np.uint8) for tint in tints]


_CURVES = _curve()


def _running_sum(picture, axis):
    """Sums over 2·RADIUS+1 neighbours along an axis; the border is repeated outwards."""
    margins = [(0, 0), (0, 0)]
    margins[axis] = (RADIUS + 1, RADIUS)
    sums = np.cumsum(np.pad(picture, margins, "edge"), axis, dtype=np.int32)
    size = 2 * RADIUS + 1
    return sums[size:] - sums[:-size] if axis == 0 else sums[:, size:] - sums[:, :-size]


def process(picture):
    """The graded picture (height × width × 3, uint8). Pure: the same pixels give the same bytes."""
    channels = [picture[..., channel].astype(np.int32) for channel in range(3)]
    luma = (channels[0] * 77 + channels[1] * 150 + channels[2] * 29) >> 8
    surroundings = _running_sum(_running_sum(luma, 0), 1) // (2 * RADIUS + 1) ** 2
    detail = (((luma - surroundings) * _STRENGTH) >> 2) + 256  # from 0 to 511: the curves begin at -256
    graded = np.empty_like(picture)
    for channel in range(3):
        graded[..., channel] = _CURVES[channel][channels[channel] + detail]
    return graded
