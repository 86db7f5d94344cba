from marginflow.experiments.kys23.profile import curves
from marginflow.experiments.panel import over_seeds

TITLES = {"d": "Dimension", "share": "Share", "kind": "Kind", "unused": "Of another panel"}


def drawn(shares, **limits):
    rows = [{"d": 10, "kind": "recipe", "share": share, "seed": seed} for seed, share in enumerate(shares)]
    return over_seeds(
        rows, x="d", y="share", series="kind", titles=TITLES, title="Shares", description="By hand.", **limits
    )


def test_an_interval_of_a_share_is_cut_where_shares_end_and_its_mean_is_not():
    (free,), (cut,) = drawn([0.9, 1.0, 1.0]).rows, drawn([0.9, 1.0, 1.0], least=0.0, most=1.0).rows
    assert free["high"] > 1.0
    assert cut["high"] == 1.0
    assert (cut["low"], cut["share"]) == (free["low"], free["share"])
    (low,) = drawn([0.0, 0.0, 0.1], least=0.0).rows
    assert low["low"] == 0.0


def test_titles_are_those_of_the_columns_that_are_there():
    panel = drawn([0.5, 0.6])
    assert set(panel.titles) == set(panel.rows[0])


def test_curves_without_a_band_keep_the_interval_for_the_table():
    panel = drawn([0.5, 0.6], band=False)
    assert panel.low is None
    assert "low" in panel.titles


def test_dashes_are_those_of_kkt_points_whichever_cells_were_run_first():
    rows = [{"method": "KKT point", "noise": 0.1, "dimension": 5, "seed": 0, "error": 0.1}]
    rows += [{**rows[0], "method": "recipe", "noise": noise} for noise in (0.1, 0.2)]
    for given in (rows, rows[::-1]):
        methods = [row["method"] for row in curves(given, "title").rows]
        assert list(dict.fromkeys(methods)) == ["recipe", "KKT point"]


def test_a_curve_has_a_gap_where_another_one_has_a_value_that_it_lacks():
    rows = [
        {"d": d, "kind": kind, "share": 0.5, "seed": 0}
        for kind, run in (("recipe", (10, 20, 40, 50)), ("KKT point", (20, 30, 40)))
        for d in run
    ]
    panel = over_seeds(rows, x="d", y="share", series="kind", titles=TITLES, title="Shares", description="By hand.")
    parts = {(row["kind"], row["d"]): row["part"] for row in panel.rows}
    assert [parts["recipe", d] for d in (10, 20, 40, 50)] == [0, 0, 1, 1]
    assert [parts["KKT point", d] for d in (20, 30, 40)] == [0, 0, 0]
    assert "part" not in panel.titles
    whole = over_seeds(rows[:4], x="d", y="share", series="kind", titles=TITLES, title="Shares", description="By hand.")
    assert all("part" not in row for row in whole.rows)
