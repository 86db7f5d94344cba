"""Random streams: one seed at the border, independent generators inside for points, test points and label noise."""

import numpy as np

from marginflow.arrays import whole_number

# A seed that is used for a sample, for its test points and for its label noise must not repeat the same numbers.
SAMPLE = ()
NOISE = (1,)
FRESH = (2,)
MEANS = (3,)


def generator(seed: int, *stream: int) -> np.random.Generator:
    """The generator of one stream of a seed; different streams are independent.

    Examples
    --------
    >>> from marginflow.data.streams import FRESH, SAMPLE, generator
    >>> bool(generator(0, *SAMPLE).random() == generator(0, *SAMPLE).random())
    True
    >>> bool(generator(0, *SAMPLE).random() == generator(0, *FRESH).random())
    False
    """
    whole_number("seed", seed, minimum=0)
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=stream))
