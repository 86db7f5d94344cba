"""Check every link of the built site without a network: files and anchors inside it exist, addresses outside are whole.

python docs/check_links.py docs/_build/html        # exit code 1 and one line for each broken link
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The anchors of a page and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what has a name and what points somewhere."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and not value.startswith(("data:", "javascript:", "mailto:")):
                self.targets.append(value)


def broken(root: Path) -> list[str]:
    """One line for each link that leads nowhere."""
    pages: dict[Path, Links] = {}
    for path in sorted(root.rglob("*.html")):
        if "_static" in path.relative_to(root).parts:  # templates of the theme
            continue
        pages[path] = Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        for target in dict.fromkeys(page.targets):
            if reason := _reason(target, path, root, pages):
                found.append(f"{path.relative_to(root)}: {target}: {reason}")
    return found


def _reason(target: str, path: Path, root: Path, pages: dict[Path, Links]) -> str | None:
    try:
        parts = urlsplit(target)
    except ValueError:
        return "not an address"
    if parts.scheme or parts.netloc:
        return None if parts.scheme in ("http", "https") and "." in parts.netloc else "not an address"
    name = unquote(parts.path)
    file = path if not name else (root / name.lstrip("/") if name.startswith("/") else path.parent / name).resolve()
    if not file.exists():
        return "there is no such file"
    if parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
        return "there is no such place on that page"
    return None


def main() -> int:
    """Print what is broken."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("The folder of the built site is expected.", file=sys.stderr)
        return 2
    found = broken(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "Every link leads somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
