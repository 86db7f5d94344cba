"""How much room each line of a verdict has: bars that end at 1 where a bound would be touched."""

from __future__ import annotations

from collections.abc import Sequence

from marginflow.report.chart import Chart
from marginflow.report.encodings import Row, inline
from marginflow.report.style import raised, signs
from marginflow.report.table import text_of
from marginflow.report.vega import alt

_COLOURS = {"met": "var(--series-1)", "failed": "var(--series-2)", "undecided": "var(--muted)"}
_MOST = 2.0  # far beyond the bound
_LETTERS = 46


def room_chart(checks: Sequence[Row], *, title: str) -> Chart:
    """Bars of the share of its bound that each check uses.

    Parameters
    ----------
    checks : sequence of mappings
        With role, name, observed, relation, bound, used and state; those without a bound are left out.
    title : str

    Returns
    -------
    Chart
    """
    states = {str(check["state"]) for check in checks}
    colours = {state: value for state, value in _COLOURS.items() if state in states}
    rows = [_row(number, check) for number, check in enumerate(checks) if isinstance(check.get("used"), int | float)]
    order = [row["line"] for row in rows]
    x = alt.X(
        "shown:Q",
        title="room used; beyond 1 the bound is broken",
        scale=alt.Scale(domain=[0, _MOST]),
        axis=alt.Axis(values=[0, 0.5, 1, 1.5, 2], format="~g"),
    )
    y = alt.Y("line:N", sort=order, title=None, axis=alt.Axis(labelLimit=330, ticks=False, domain=False))
    colour = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(columns=3, symbolType="square", symbolStrokeWidth=0),
    )
    hint = [alt.Tooltip(f"{name}:N", title=name) for name in ("role", "name", "compared", "state")]
    base = alt.Chart(inline(rows))
    layers = alt.layer(
        base.mark_bar(height={"band": 0.55}).encode(x=x, y=y, color=colour, tooltip=hint),
        base.mark_text(align="left", dx=4, color="var(--muted)", fontSize=12).encode(x=x, y=y, text="compared:N"),
        alt.Chart(inline([{"shown": 1.0}])).mark_rule(color="var(--ink)", strokeWidth=1.5).encode(x=x),
    )
    description = "For every check how much of its bound is used; a bar that passes the line at 1 breaks the bound."
    titles = {"role": "Part", "name": "Check", "compared": "Compared", "used": "Room used", "state": "State"}
    return Chart.of(layers, rows, titles, title, description, height=30 * max(1, len(rows)))


def _row(number: int, check: Row) -> dict[str, object]:
    sign = signs(str(check["relation"]))
    name, used = signs(str(check["name"])), check["used"]
    assert isinstance(used, int | float)
    cut = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
    return {
        "line": f"{cut}{chr(0x200B) * number}",  # two checks of one name keep a line each
        "name": name,
        "role": check.get("role", ""),
        "used": float(used),
        "shown": min(_MOST, max(0.0, float(used))),
        "state": check["state"],
        "compared": raised(f"{text_of(check['observed'])} {sign} {text_of(check['bound'])}"),
    }
