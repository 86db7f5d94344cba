"""Take finished cells of stores over into docs/gallery: rows, captions, costs and pictures in one go.

python benchmarks/gallery_take_over.py cells.sqlite     # copies of stores that another process is writing to

The captions are those that `tests/experiments` computes from the rows: what they said before is replaced by what they
say now. One that cannot be computed any more, or did not stand on the page, is named and left to you.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "gallery" / "README.md"
TESTS = HERE.parent / "tests"
LONGEST = 140
sys.path[:0] = [str(TESTS / "oracles"), str(TESTS / "experiments")]  # before the benchmark of the name `gallery_rows`


def captions() -> dict[str, str | None]:
    """What each caption says of the rows that are there; None where it does not fit them."""
    import gallery_rows
    import test_gallery_captions
    import test_gallery_captions_noisy

    gallery_rows.rows.cache_clear()
    makers = [*test_gallery_captions.SENTENCES, *test_gallery_captions_noisy.SENTENCES]
    return {name_of(make): said(make) for make in makers}


def name_of(make: Any) -> str:
    """The name of the function, with its arguments."""
    if isinstance(make, functools.partial):
        return f"{make.func.__name__}{make.args}"
    return str(make.__name__)


def said(make: Callable[[], str]) -> str | None:
    try:
        return make()
    except (AssertionError, ValueError, IndexError):
        return None


def rewritten(text: str, before: dict[str, str | None], after: dict[str, str | None]) -> str:
    """The page with the new captions; names on standard output what is left to a person."""
    for name, new in after.items():
        old = before[name]
        if new is None or old is None:
            print(f"look at {name}: it {'does' if new is None else 'did'} not fit the rows; now: {new}")
        elif new != old:
            text, count = re.subn(r"\s+".join(map(re.escape, old.split())), lambda _, new=new: new, text)
            print(f"{name}: {new}" if count else f"look at {name}: it was not on the page; now: {new}")
    return "\n\n".join(filled(paragraph) for paragraph in text.split("\n\n"))


def filled(paragraph: str) -> str:
    """A paragraph of prose in lines of the length of the page; anything else as it is."""
    if paragraph.lstrip().startswith(("|", "<", "!", "#", "`")) or max(map(len, paragraph.split("\n"))) <= LONGEST:
        return paragraph
    end = "\n" if paragraph.endswith("\n") else ""
    return textwrap.fill(" ".join(paragraph.split()), LONGEST, break_long_words=False, break_on_hyphens=False) + end


def main(stores: list[str]) -> None:
    before = captions()
    call("gallery_rows.py", *stores)
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), before, captions()), encoding="utf-8")
    call("gallery_costs.py", "--write")
    call("gallery.py")


def call(name: str, *arguments: str) -> None:
    subprocess.check_call([sys.executable, str(HERE / name), *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
