r"""The supremum of the dual function in three dimensions, by the regions of the sphere.

The rows cut the sphere of directions into regions on which :math:`F(u) = S \cdot u` is linear. A maximum lies on one
of the great circles :math:`z_i \cdot u = 0`, where F is a planar dual function whose arcs are enumerated exactly, or
inside a region, at :math:`S / \|S\|`; and every region has an arc of some circle on its border. So the maximum over the
circles and over the two regions beside each of their arcs is the supremum, whatever the position of the rows.
"""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.bracket.dual_supremum import Supremum
from marginflow.limit.bracket.settings import PROJECTION_ROUNDING
from marginflow.limit.line.circle import Circle


def spherical_supremum(rows: FloatArray, y: FloatArray, multipliers: FloatArray) -> tuple[Supremum, Supremum]:
    """sup F and sup -F over unit directions of R^3, for rows (n, 3), each to rounding."""
    live = multipliers > 0
    Z, g = rows[live], (multipliers * y)[live]
    nothing = (0.0, np.array([1.0, 0.0, 0.0]))
    found: dict[int, list[tuple[float, FloatArray]]] = {1: [nothing], -1: [nothing]}

    def offer(points: FloatArray) -> None:
        values = np.maximum(points @ Z.T, 0.0) @ g
        for sign in (1, -1) if values.size else ():
            index = int(np.argmax(sign * values))
            found[sign].append((float(sign * values[index]), points[index]))

    norms = np.linalg.norm(Z, axis=1)
    offer(np.vstack([Z / norms[:, None], -Z / norms[:, None]]))
    for i in range(g.size):
        basis = np.linalg.svd(Z[i][None])[2][1:]
        flat = Z @ basis.T
        crossing = np.linalg.norm(flat, axis=1) > 1e-12 * norms  # rows parallel to z_i vanish on its circle
        if not crossing.any():
            continue
        circle = Circle(flat[crossing])
        arcs = circle.arcs(g[crossing])
        for row, sign in ((0, 1), (1, -1)):
            k = int(np.argmax(arcs.maxima[row]))
            found[sign].append((float(arcs.maxima[row, k]), arcs.positions[row, k] @ basis))
        # S in the two regions beside each arc: the rows active on it, and on one side those parallel to z_i.
        base = (circle.active.T * g[crossing]) @ Z[crossing]
        parallel = ~crossing
        for side in (1.0, -1.0):
            joining = parallel & (side * (Z @ Z[i]) > 0)
            S = base + g[joining] @ Z[joining]
            for candidates in (S, -S):
                size = np.linalg.norm(candidates, axis=1)
                offer(candidates[size > 0] / size[size > 0, None])
    rounding = PROJECTION_ROUNDING * float(np.abs(g) @ norms)
    highest = [max(found[sign], key=lambda pair: pair[0]) for sign in (1, -1)]
    positive, negative = (Supremum(value, value + rounding, direction, 0) for value, direction in highest)
    return positive, negative
