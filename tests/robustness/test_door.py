"""Every module that the door of robustness names is there without an import of its own."""

import re
import subprocess
import sys

import pytest

import marginflow as mf


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(\w+)`", mf.robustness.__doc__))))
def test_modules_named_in_the_docstring_are_attributes(name: str):
    code = f"import marginflow as mf; print(mf.robustness.{name}.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"marginflow.robustness.{name}"
