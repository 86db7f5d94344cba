r"""What every statement must fulfil, ours and anybody else's: rules that take a statement and raise `AssertionError`.

A package with a paper of its own runs them in a test of three lines, which `marginflow new-paper` writes:

    @pytest.mark.parametrize(("rule", "statement"), conformance.cases("KEY"), ids=conformance.name_of)
    def test_conformance(rule, statement):
        rule(statement)
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Final

from marginflow.errors import InputError
from marginflow.theory.outcomes import MEANING
from marginflow.theory.registry import statement as look_up
from marginflow.theory.registry import statements
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

Rule = Callable[[Statement], None]
LONGEST_MEANING: Final = 160


@cache
def on_example(statement: Statement) -> Verdict:
    """The verdict on the example, made once."""
    return statement.judge_instance(statement.example())


@cache
def on_control(statement: Statement) -> Verdict:
    """The verdict on the control, made once."""
    return statement.judge_instance(statement.control())


def example_holds(statement: Statement) -> None:
    """The example is met, hypotheses and claims; a probe is measured."""
    verdict = on_example(statement)
    assert verdict.outcome == ("measured" if statement.is_probe else "holds"), str(verdict)


def control_does_not_hold(statement: Statement) -> None:
    """The control ends as announced, which is never "holds"."""
    verdict = on_control(statement)
    assert statement.announces(verdict.outcome), f"{statement.control_outcome} was announced: {verdict}"


def control_breaks_a_claim(statement: Statement) -> None:
    """The control breaks a claim, whatever its hypotheses do; a probe claims nothing."""
    if not statement.is_probe:
        verdict = on_control(statement)
        assert verdict.failed_claims, f"no claim of {statement.id} fails on its control: {verdict}"


def gap_breaks_a_proof_step(statement: Statement) -> None:
    """Where an instance shows a gap in the printed proof, a step fails on it and no claim does."""
    if statement.gap is not None:
        verdict = statement.judge_instance(statement.gap())
        assert verdict.outcome == "proof step fails", str(verdict)


def verdicts_are_plain_and_repeat(statement: Statement) -> None:
    """The same instance gives the same verdict again, as plain values with unique names and a sentence."""
    first = on_example(statement)
    again = statement.judge_instance(statement.example())
    assert json.dumps(first.to_dict(), allow_nan=False) == json.dumps(again.to_dict(), allow_nan=False)
    names = [check.name for check in (*first.hypotheses, *first.constants, *first.conclusions)]
    assert len(names) == len(set(names)), f"two checks of {statement.id} share a name"
    assert first.sentence.startswith(statement.id)
    assert MEANING[first.outcome] in first.sentence


def says_what_is_missing(statement: Statement) -> None:
    """An input that is needed and not given, and a parameter that is not known, are named in one sentence."""
    needed = [need for need in statement.needs if need != "parameters"]
    if needed:
        message = _refusal(statement, {})
        assert f"{needed[0]} was not given" in message, message
    message = _refusal(statement, {"no such thing": 1})
    assert "no such thing" in message or "was not given" in message, message


def _refusal(statement: Statement, parameters: dict[str, object]) -> str:
    try:
        verdict = statement.check(**parameters)  # type: ignore[arg-type]  # what it must refuse
    except InputError as error:
        return str(error)
    raise AssertionError(f"{statement.id} was judged although something is wrong: {verdict}")


def looks_at_what_it_needs(statement: Statement) -> None:
    """Every input that is called needed is looked at on the example, unless a hypothesis made it unnecessary."""
    unused = set(on_example(statement).unused)
    assert not unused & set(statement.needs), f"{statement.id} needs {unused & set(statement.needs)} and ignores it"


def names_what_it_ignores(statement: Statement) -> None:
    """An input that is not needed is refused, looked at, or named as unused in the verdict and in its sentence."""
    example = statement.example()
    spare = {"test": example.data, "start": example.network, "data": example.test}
    for name, thing in spare.items():
        if thing is None or name in (*statement.needs, *example.given()):
            continue
        try:
            verdict = statement.judge_instance(example.but(**{name: thing}))
        except InputError:
            continue
        if name in verdict.unused:
            assert f"Not used: {', '.join(verdict.unused)}" in verdict.sentence
        return


def is_written_down(statement: Statement) -> None:
    """One line of meaning, a formula with balanced braces, an id that the look-up finds."""
    assert len(statement.meaning) <= LONGEST_MEANING, statement.meaning
    assert "\n" not in statement.meaning
    forms = statement.forms
    for latex in (statement.formula, *((forms.printed, forms.proved, forms.sharp) if forms is not None else ())):
        assert latex.replace(r"\{", "").count("{") == latex.replace(r"\}", "").count("}"), latex
    assert look_up(statement.id) is statement


RULES: Final[tuple[Rule, ...]] = (
    example_holds,
    control_does_not_hold,
    control_breaks_a_claim,
    gap_breaks_a_proof_step,
    verdicts_are_plain_and_repeat,
    says_what_is_missing,
    looks_at_what_it_needs,
    names_what_it_ignores,
    is_written_down,
)
"""All rules; a third party's statements are judged by the same ones as ours."""


def cases(paper: str | None = None) -> tuple[tuple[Rule, Statement], ...]:
    """Every rule with every statement of a paper, or of all papers."""
    return tuple((rule, statement) for statement in statements(paper) for rule in RULES)


def name_of(thing: object) -> str:
    """How a test is called: the id of a statement, the name of a rule."""
    return thing.id if isinstance(thing, Statement) else str(getattr(thing, "__name__", thing))
