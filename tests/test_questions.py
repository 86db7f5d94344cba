"""The examples of the page of questions run, and print what they say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_examples_of_the_questions_run_and_print_what_stands_beside_them() -> None:
    text = (DOCS / "faq.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "faq.md", "exec", dont_inherit=True), {})
    lines = [line for line in code.splitlines() if line.startswith("print(")]
    for line, said in zip(lines, printed.getvalue().splitlines(), strict=True):
        _, _, expected = line.partition("#")
        if expected:
            assert expected.strip().startswith(said), line
        else:
            assert said in ("local minimum", "not a local minimum", "undecided"), line


def test_the_glossary_is_in_order_and_defines_each_word_once() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = [word.lower() for word in re.findall(r"^(\S.*)\n: ", text, flags=re.MULTILINE)]
    assert words == sorted(set(words))
    assert len(words) >= 20
