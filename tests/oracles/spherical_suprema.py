r"""The supremum of the dual function in three dimensions, by planar dual functions in exact arithmetic.

The rows cut the sphere of directions into regions on which :math:`F(u) = S \cdot u` is linear. A maximum lies on one
of the great circles :math:`z_i \cdot u = 0`, where F is a planar dual function whose arcs are enumerated in integers,
or inside a region, at :math:`S / \|S\|`; and every region has an arc of some circle on its border. So the maximum over
the circles and over the two regions beside each of their arcs is the supremum, whatever the position of the rows.
"""

from __future__ import annotations

import numpy as np

from marginflow.limit.line.circle import Circle


def spherical_suprema(rows: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """sup F and sup -F over unit directions of R^3, for rows (n, 3), each to rounding."""
    live = weights != 0
    Z, g = rows[live], weights[live]
    highest = {1: 0.0, -1: 0.0}

    def offer(points: np.ndarray) -> None:
        values = np.maximum(points @ Z.T, 0.0) @ g
        for sign in (1, -1) if values.size else ():
            highest[sign] = max(highest[sign], float((sign * values).max()))

    norms = np.linalg.norm(Z, axis=1)
    offer(np.vstack([Z / norms[:, None], -Z / norms[:, None]]))
    for i in range(g.size):
        basis = np.linalg.svd(Z[i][None])[2][1:]
        flat = Z @ basis.T
        crossing = np.linalg.norm(flat, axis=1) > 1e-12 * norms  # rows parallel to z_i vanish on its circle
        if not crossing.any():
            continue
        circle = Circle(flat[crossing])
        maxima = circle.arcs(g[crossing]).maxima
        for row, sign in ((0, 1), (1, -1)):
            highest[sign] = max(highest[sign], float(maxima[row].max()))
        # S in the two regions beside each arc: the rows active on it, and on one side those parallel to z_i.
        base = (circle.active.T * g[crossing]) @ Z[crossing]
        for side in (1.0, -1.0):
            joining = ~crossing & (side * (Z @ Z[i]) > 0)
            S = base + g[joining] @ Z[joining]
            size = np.linalg.norm(S, axis=1)
            offer(S[size > 0] / size[size > 0, None])
            offer(-S[size > 0] / size[size > 0, None])
    return highest[1], highest[-1]
