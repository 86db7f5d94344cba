"""`marginflow doctor`: versions, extras, threads and disk: what to look at first when something is slow or missing."""

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from marginflow import __version__
from marginflow.cli.options import AsJson
from marginflow.cli.output import deliver

NEEDED = (
    "numpy",
    "scipy",
    "highspy",
    "joblib",
    "threadpoolctl",
    "msgspec",
    "safetensors",
    "cyclopts",
    "rich",
    "altair",
    "vl-convert-python",
    "jinja2",
    "latex2mathml",
)
# The extra of pyproject.toml, the package it brings, the module it is imported as, and what it is for.
EXTRAS = (
    ("torch", "torch", "torch", "networks to and from torch, .pt files"),
    ("sklearn", "scikit-learn", "sklearn", "the classifier, and the bundled data sets"),
    ("onnx", "onnx", "onnx", "networks to and from .onnx"),
    ("skl2onnx", "skl2onnx", "skl2onnx", "pipelines of scikit-learn as .onnx"),
    ("exact", "python-flint", "flint", "certificates in exact arithmetic"),
    ("dask", "distributed", "distributed", "sweeps on several machines"),
    ("foolbox", "foolbox", "foolbox", "attacks to compare with"),
    ("gif", "pillow", "PIL", "the plane as a moving picture"),
    ("parquet", "pyarrow", "pyarrow", "rows of sweeps as .parquet"),
)
LITTLE_DISK = 1.0  # gigabytes


def doctor(*, as_json: AsJson = False) -> int:
    """Exit code 0 if everything that is needed is there, 1 if not; an extra that is absent is not a fault."""
    import numpy as np
    import scipy.linalg

    from marginflow.threads import blas_libraries

    np.linalg.norm(scipy.linalg.inv(np.eye(2)))  # loads both BLAS libraries, so that they can be listed
    packages = {name: _version(name) for name in NEEDED}
    extras = {extra: _version(package) if _importable(module) else None for extra, package, module, _ in EXTRAS}
    pools: list[dict[str, object]] = [
        {"library": pool.library, "version": pool.version, "threads": pool.threads} for pool in blas_libraries()
    ]
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    missing = [name for name, found in packages.items() if found is None]
    advice = _advice(missing, pools, free, extras)
    healthy = not missing and free >= LITTLE_DISK
    record: dict[str, Any] = {
        "healthy": healthy,
        "marginflow": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "cores": _cores(),
        "packages": packages,
        "extras": extras,
        "blas": pools,
        "blas_variables": {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")},
        "free_disk_gb": free,
        "chromium": shutil.which("chromium"),
        "advice": advice,
    }
    return deliver(record, as_json=as_json, describe=lambda: _tell(record), holds=healthy)


def _advice(
    missing: list[str], pools: list[dict[str, object]], free: float, extras: dict[str, str | None]
) -> list[str]:
    advice = []
    if missing:
        advice.append(f"Install what is missing: pip install {' '.join(missing)}")
    if free < LITTLE_DISK:
        advice.append(f"Only {free:.1f} GB are free here; sweeps and pages need room.")
    if any(isinstance(pool["threads"], int) and pool["threads"] > _cores() for pool in pools):
        advice.append(f"BLAS uses more threads than there are cores: export OPENBLAS_NUM_THREADS={_cores()}")
    absent = [name for name, found in extras.items() if found is None]
    if absent:
        advice.append(f"To add what an extra brings: python -m pip install '{_source()}[{','.join(absent)}]'")
    return advice


def _tell(record: dict[str, Any]) -> None:
    print(f"marginflow {record['marginflow']}, Python {record['python']}, {platform.system()} {platform.machine()}")
    print(f"Cores      {record['cores']}")
    for pool in record["blas"]:
        print(f"BLAS       {pool['library']} {pool['version']}, {pool['threads']} threads")
    print(f"Free disk  {record['free_disk_gb']:.1f} GB here")
    print(f"Chromium   {record['chromium'] or 'absent (only the tests of pages need it)'}")
    listed = ", ".join(f"{name} {found or 'MISSING'}" for name, found in record["packages"].items())
    print(textwrap.fill(f"Packages   {listed}", 80, subsequent_indent=" " * 11, break_on_hyphens=False))
    print("Extras")
    for extra, _, _, purpose in EXTRAS:
        print(f"  {extra:<8} {record['extras'][extra] or 'absent':<10} {purpose}")
    for sentence in record["advice"]:
        print(f"-> {sentence}")
    print("Everything that is needed is there." if record["healthy"] else "Something that is needed is not there.")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _source() -> str:
    """What pip is to be given to install marginflow again: the folder it came from, or its name."""
    try:
        text = importlib.metadata.distribution("marginflow").read_text("direct_url.json")
        address = str(json.loads(text)["url"]) if text else ""
    except (importlib.metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        address = ""
    return unquote(address.removeprefix("file://")) if address.startswith("file://") else "marginflow"


def _importable(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
