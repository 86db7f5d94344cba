r"""[KYS23, Section 4.2] Without biases two neurons still fit any data, if the dimension is large enough.

For linearly independent samples there is w with w . x_i = y_i, and relu(w . x) - relu(-w . x) = w . x.
"""

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, above, at_least, equal, stated, value
from marginflow.theory.kys23.definitions_sphere import noisy_sample


@stated(
    id="KYS23/Sec4.2.Fit",
    kind="remark",
    number="Section 4.2, before Proposition 4.4",
    meaning="If the dimension is large enough, networks of two neurons without bias fit any data.",
    formula=r"\mathrm{rank}(X) = m \;\Rightarrow\; \exists w: \; y_i (\sigma(w^\top x_i) - \sigma(-w^\top x_i)) = 1",
    needs=("data",),
    example=lambda: noisy_sample(20, 0.3, 10**4),
    control=lambda: Instance(
        name="four points of the plane in XOR position",
        data=Dataset(X=np.vstack([np.eye(2), -np.eye(2)]), y=np.array([1.0, -1.0, 1.0, -1.0])),
    ),
    control_shows="four points of the plane in XOR position: two neurons without bias that are opposite fit none of "
    "them",
    printed=r"d \text{ sufficiently large}, \ n \ge 2",
    proved=r"x_1, \dots, x_m \text{ linearly independent}, \ n \ge 2",
    remark="d >= m suffices for almost every sample.",
)
def sec_4_2_fit(instance: Instance) -> Findings:
    """The margins of relu(w . x) - relu(-w . x) = w . x with the least-squares w."""
    data = instance.the_data()
    rank = int(np.linalg.matrix_rank(data.X))
    w = np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    margins = TwoLayer(W=np.array([w, -w]), v=np.array([1.0, -1.0])).margins(data.X, data.y)
    return Findings(
        value("m", data.n_samples),
        value("rank", rank),
        hypotheses=(at_least("rank of the samples", rank, data.n_samples),),
        claims=(above("y_i N(x_i)", margins, 0.0, scale=1.0),),
        derived=(equal("y_i N(x_i) = 1", margins, 1.0),),
    )
