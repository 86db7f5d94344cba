"""How much work an exact KKT point of random samples is, as the cells of figures count it."""


def kkt_operations(samples: int, dimension: int, width: int, *, effort: float = 1.0) -> float:
    """Count the flow, ADMM with Newton's method, what is done once for each neuron and sample, and what is always done.

    `effort` says how many times as much flow, ADMM and Newton's method as random labels on the sphere the samples need.

    The weights of the four are those that fit cells of `vys22-sphere` with 10 to 3981 samples, dimensions 100 to 1000
    and widths 100 to 1000 best; ADMM with Newton's method grows by a power of the samples between two and three.
    """
    m, d, k = float(samples), float(dimension), float(width)
    once = 185.0 * m * k + 4e4 * k + 2e6 * min(m, 20.0)
    return effort * (m * min(m, d) * k + 140.0 * float(m**2.5)) + once
