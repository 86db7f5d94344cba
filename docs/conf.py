"""How the site is built: `make -C docs html`, offline, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.ext import autosummary

import marginflow

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "marginflow"
author = "The marginflow developers"
copyright = author
release = version = marginflow.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "deviations",
    "formulas",
    "real_signs",
    "statement_links",
    "statement_pages",
    "two_modes",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "examples", "tutorials/README.rst", "statement_template.py"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the scraper of charts is a function, which cannot be cached between builds
nitpicky = False

autosummary_generate = True
autosummary.WELL_KNOWN_ABBREVIATIONS += ("s.t.",)  # a sentence goes on after "min f s.t."
autodoc_typehints = "none"  # numpydoc says the types, with shapes
default_role = "py:obj"  # `kkt_point` in a docstring is code, and a link where the reference has a page of it
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

html_theme = "pydata_sphinx_theme"
html_title = "marginflow"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_css_files = ["pictures.css"]
html_static_path = ["_static", "../src/marginflow/report/fonts/marginflow-math-regular.woff2"]
html_show_sourcelink = False
html_sidebars = {  # pages of a section of their own have nothing to list beside them
    name: [] for name in ("install", "findings", "gallery/README", "limits", "comparison", "glossary", "faq")
}
html_theme_options = {
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}


def save_charts(block: object, block_vars: dict, gallery_conf: dict) -> str:
    """Every chart, of Altair or of ours, that a block of a tutorial has named since the last, as an SVG."""
    import altair
    import vl_convert
    from sphinx_gallery.scrapers import figure_rst

    from marginflow.plot.plane import PlanePicture
    from marginflow.report.bundle import register_fonts, with_fonts
    from marginflow.report.content import Chart
    from marginflow.report.static import svg_text

    seen = gallery_conf.setdefault("charts_seen", set())
    paths = []
    for value in block_vars["example_globals"].values():
        if isinstance(value, altair.TopLevelMixin | Chart | PlanePicture) and id(value) not in seen:
            seen.add(id(value))
            path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
            if isinstance(value, PlanePicture):
                svg = value.svg
            elif isinstance(value, Chart):
                svg = svg_text(value, width="page")
            else:
                register_fonts()
                svg = with_fonts(vl_convert.vegalite_to_svg(value.to_json()))
            path.write_text(svg, encoding="utf-8")
            paths.append(str(path))
    return figure_rst(paths, gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "learn",
    "filename_pattern": r"/tutorial_",
    "ignore_pattern": r"__init__\.py",
    "image_scrapers": (save_charts,),
    "reset_modules": (),
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "min_reported_time": 1000,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": ("__str__",),
    "abort_on_example_error": True,
}


def escape_bars(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """|v_j| in a sentence is an absolute value and not a substitution of reStructuredText."""
    in_formula = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(".. math::"):
            in_formula = True
        elif line and not line.startswith((" ", "\t")):
            in_formula = False
        if not in_formula and ":math:" not in line and not line.lstrip().startswith(">>>"):
            lines[number] = line.replace("|", r"\|")


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", escape_bars)  # type: ignore[attr-defined]
