"""`marginflow demo`: train by gradient flow, find the KKT point it heads for, certify both, tell it on one page."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from threadpoolctl import threadpool_limits

from marginflow import certificates, flow
from marginflow.cli.demo_edge import double_edge
from marginflow.cli.demo_page import Findings, Judged, demo_page
from marginflow.cli.demo_theory import judge_theory, told
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.limit import remark
from marginflow.cli.options import AsJson, Seed
from marginflow.cli.output import note, tell
from marginflow.cli.progress import progress
from marginflow.cli.provenance import versions
from marginflow.data import Clusters, Dataset, smallest_dimension
from marginflow.errors import InputError
from marginflow.generalisation import test_error
from marginflow.limit import kkt_point
from marginflow.losses import as_power_of_ten
from marginflow.networks import TwoLayer
from marginflow.robustness import mean_sum, minimal_step

# Small enough for a minute on two cores, large enough that Assumption 2.2 of FVBS23 holds and its theorems apply: they
# ask for k ln(d)^2 samples, which are 202 here.
N_CLUSTERS, N_SAMPLES, WIDTH, SCALE, STOP_LOSS, N_FRESH = 4, 208, 100, 0.01, 1e-20, 10_000


def demo(
    *,
    seed: Seed = 0,
    out: Annotated[
        Path, Parameter(name=["--out", "-o"], help="Folder to write; what an earlier demo left there is replaced.")
    ] = Path("marginflow-demo"),
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if the KKT point found is certified, 1 if not. Takes less than a minute on two cores."""
    if not out.parent.is_dir():
        raise InputError(f"The folder {out.parent} does not exist; make it first.")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; the name of a folder is expected.")
    # The matrices are small: a second BLAS thread gains nothing, and on a busy machine costs a factor of ten.
    with threadpool_limits(1):
        findings, seconds = _found(seed)
    return _write(findings, out, seconds, as_json=as_json)


def _found(seed: int) -> tuple[Findings, float]:
    """Draw, train, certify, polish, certify; and how long it took."""
    began = time.perf_counter()
    law = Clusters(dimension=smallest_dimension(N_CLUSTERS), n_clusters=N_CLUSTERS)
    data = law.sample(N_SAMPLES, seed=seed)
    note(f"Drew {N_SAMPLES} samples of {N_CLUSTERS} clusters in dimension {law.dimension}.")
    run, seconds = _trained(data, seed)
    loss = as_power_of_ten(run.log_loss, digits=0)
    note(f"Trained {run.steps} steps of gradient flow to loss {loss} in {seconds:.1f} s.")
    path = _certified_on_the_way(run, data)
    fresh = law.fresh(N_FRESH, train=data, seed=seed)
    trained = _judged("trained network", run.network, data, fresh, seconds)
    note(f"Certified: the relative residual of the trained network is {trained.certificate.total:.2g}.")
    with progress("Looking for the KKT point") as show:
        limit = kkt_point(data, start=trained.network, flow_steps=0, progress=lambda now: show(-1.0, remark(now)))
    if limit.stopped_by == "interrupt":
        raise KeyboardInterrupt
    point = _judged("KKT point", limit.network, data, fresh, limit.seconds)
    outcome = "Found and certified a KKT point near it" if point.certificate.holds() else "Found no KKT point near it"
    note(f"{outcome}: relative residual {point.certificate.total:.2g}.")
    with progress("The double edge") as show:
        edges = double_edge(seed, show)
    note(f"Measured the exact robustness of KKT points and robust networks for {edges[0].k} to {edges[-1].k} clusters.")
    with progress("Checking the theorems") as show:
        theorems = judge_theory(law, limit.compact, data, seed=seed, show=show)
    note(told(theorems))
    findings = Findings(
        data=data,
        law=law,
        run=run,
        path=path,
        judged=(trained, point),
        limit=limit,
        edges=edges,
        theorems=theorems,
        parameters={
            "seed": seed,
            "dimension": law.dimension,
            "clusters": N_CLUSTERS,
            "samples": N_SAMPLES,
            "width": WIDTH,
            "initial scale": SCALE,
            "loss to stop at": STOP_LOSS,
            "fresh points": N_FRESH,
        },
        versions=versions(),
        command="marginflow demo" + (f" --seed {seed}" if seed else ""),
    )
    return findings, time.perf_counter() - began


def _trained(data: Dataset, seed: int) -> tuple[flow.Run, float]:
    start = TwoLayer.initialise(WIDTH, data.dimension, scale=SCALE, seed=seed)
    with progress("Training") as show:
        run = flow.train(
            start,
            data,
            flow.GradientFlow(stop=[flow.LossBelow(STOP_LOSS), flow.Steps(20_000)]),
            recording=flow.Recording(ratio=1.5, networks=True),
            progress=lambda now: show(now.share, f"step {now.step}, loss {as_power_of_ten(now.log_loss, digits=0)}"),
        )
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run, run.seconds


def _certified_on_the_way(run: flow.Run, data: Dataset) -> tuple[tuple[int, certificates.Certificate], ...]:
    """(step, certificate) of every recorded network that separates the data."""
    trajectory = run.trajectory
    kept = trajectory.networks or ()
    found = []
    with progress("Certifying") as show:
        for place, network in enumerate(kept):
            if isinstance(network, TwoLayer) and trajectory.least_margin[place] > 0:
                found.append((int(trajectory.step[place]), certificates.certify(network, data)))
            show((place + 1) / len(kept), f"record {place + 1} of {len(kept)}")
    return tuple(found)


def _judged(name: str, network: object, data: Dataset, fresh: Dataset, seconds: float) -> Judged:
    """A network with its certificate, its errors on fresh points and the one step that flips them all."""
    if not isinstance(network, TwoLayer) or data.means is None or data.mean_labels is None:
        raise TypeError("the demo judges two-layer networks on clusters")
    direction = mean_sum(data.means, data.mean_labels)
    correct = network.margins(fresh.X, fresh.y) > 0
    steps = minimal_step(network, fresh.X[correct], fresh.y[correct], direction)
    return Judged(
        name=name,
        network=network,
        certificate=certificates.certify(network, data),
        error=test_error(network, fresh.X, fresh.y),
        flip_size=steps.size_for_share(1.0),
        seconds=seconds,
    )


def _write(findings: Findings, out: Path, seconds: float, *, as_json: bool) -> int:
    from marginflow.report import write

    out.mkdir(exist_ok=True)
    findings.data.save(out / "data.npz")
    for judged in findings.judged:
        judged.network.save(out / f"{judged.name.replace(' ', '-')}.safetensors")
    page = write(demo_page(findings), out / "index.html")
    last = findings.judged[-1]
    record = {
        "page": page.resolve(),
        "seconds": seconds,
        "networks": {
            judged.name: judged.certificate.to_dict(arrays=False)
            | {
                "test_error": dataclasses.asdict(judged.error),
                "flip_size": judged.flip_size,
                "seconds": judged.seconds,
            }
            for judged in findings.judged
        },
        "residual": last.certificate.total,
        "edges": [
            {
                "clusters": edge.k,
                "dimension": edge.dimension,
                "certified": edge.certified,
                "median_radius_by_sqrt_dimension": {
                    side.name: side.median / math.sqrt(edge.dimension) for side in edge.sides
                },
            }
            for edge in findings.edges
        ],
        "verdicts": {one.statement.id: one.verdict.outcome for one in findings.theorems},
    }
    tell(record, as_json=as_json, headings={"residual": f"Residual of the {last.name}", "page": "Open"})
    return DONE if last.certificate.holds() else DOES_NOT_HOLD
