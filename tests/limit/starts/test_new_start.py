"""A newcomer adds a start in one new file, and nothing else is changed."""

from __future__ import annotations

from typing import Any

NEW_START = '''"""Where nothing was trained: the network that was given."""

from marginflow.limit.budget import Budget
from marginflow.limit.starts import AbstractStart, Start
from marginflow.limit.starts.bundles import bundle
from marginflow.limit.task import Flowed, Task


class Random(AbstractStart):
    """The given network without a flow."""

    name, rank = "random", 5

    def propose(self, task: Task, budget: Budget) -> Start:
        """Its neurons, those of the same pattern as one."""
        return bundle(task, Flowed(task.given, 0.0))
'''
PROGRAM = """
import marginflow as mf
from marginflow.limit import all_starts

assert "random" in [start.name for start in all_starts()]
limit = mf.kkt_point(mf.data.Sphere(dimension=8).sample(12, seed=0), width=30, seed=0, starts=["random"])
assert limit.exact
assert limit.flow_seconds == 0.0
"""


def test_one_new_file_is_a_new_start(newcomer: Any) -> None:
    newcomer.adds("limit/starts/random.py", NEW_START)
    done = newcomer.runs("-c", PROGRAM)
    assert done.returncode == 0, done.stderr


def test_a_new_start_keeps_the_rules_for_starts(newcomer: Any) -> None:
    newcomer.adds("limit/starts/random.py", NEW_START)
    found = newcomer.is_judged_by(
        "limit/starts/test_starts.py",
        "test_house_rules.py",
        "test_package.py",
        only="order or by_name or unknown or none_applies or every_start or no_start or fixed_number or follows"
        " or names_of",
    )
    assert set(found.values()) == {"PASSED"}
    assert {
        "test_the_order_is_that_of_the_ranks",
        "test_every_start_proposes_something_a_polish_can_use_or_nothing[random]",
        "test_no_start_flows_where_the_caller_wants_no_flow",
        "test_an_unknown_start_is_refused_with_the_known_ones",
    } <= set(found)


def test_a_start_that_flows_unasked_is_refused(newcomer: Any) -> None:
    flows = NEW_START.replace("Flowed(task.given, 0.0)", "task._flow(task.X, task.y, None, budget, angle=0.1, most=5)")
    assert flows != NEW_START
    newcomer.adds("limit/starts/random.py", flows)
    found = newcomer.is_judged_by("limit/starts/test_starts.py", only="no_start_flows")
    assert found == {"test_no_start_flows_where_the_caller_wants_no_flow": "FAILED"}
