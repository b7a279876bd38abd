"""How busy a device is over time, by the kind of work."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from itertools import islice

from simulatorreceiver.curve import Curve, numbers

STEP = 8.0
"""Seconds between two knots of a load curve."""
KNOTS = 75
"""Knots of a curve; it repeats itself after 10 minutes."""


class Work(Enum):
    """A kind of work, or none."""

    TRAINING = "training"
    """Always busy, but for checkpoints."""
    INFERENCE = "inference"
    """Follows the requests."""
    BATCH = "batch"
    """Runs at the limit, then loads data."""
    NOTEBOOK = "notebook"
    """Holds a device and hardly ever uses it."""
    NONE = "none"


def load_curve(work: Work, seed: int, index: int) -> Curve:
    """Return the load of the device with this index, from 0 to 1."""
    shape, noise = _SHAPES[work], numbers(seed, index, "load")
    return Curve([shape(i, x) for i, x in enumerate(islice(noise, KNOTS))], STEP)


def _training(knot: int, noise: float) -> float:
    return 0.3 * noise if knot % 15 == 0 else 0.88 + 0.12 * noise


def _inference(knot: int, noise: float) -> float:
    return 0.4 + 0.25 * math.sin(2 * math.pi * knot / KNOTS) + 0.2 * (noise - 0.5)


def _batch(knot: int, noise: float) -> float:
    return 0.97 + 0.03 * noise if knot % 25 < 18 else 0.4 * noise  # noqa: PLR2004 - of 25 knots


def _notebook(knot: int, noise: float) -> float:
    return 0.2 * noise if 20 <= knot < 24 else 0.0  # noqa: PLR2004 - a cell that runs half a minute


def _none(_: int, __: float) -> float:
    return 0.0


_SHAPES: dict[Work, Callable[[int, float], float]] = {
    Work.TRAINING: _training,
    Work.INFERENCE: _inference,
    Work.BATCH: _batch,
    Work.NOTEBOOK: _notebook,
    Work.NONE: _none,
}
