"""A sample in a notebook: its sizes, and its points on the plane or along the first two principal directions."""

from marginflow.plot.results import Showing
from marginflow.report.charts import points
from marginflow.report.content import Chart
from marginflow.report.results.summary import Fields


def sample(data: Fields) -> Showing:
    """Sizes, classes, law and lengths."""
    rows: list[tuple[object, ...]] = [
        ("Samples n", data["samples"]),
        ("Dimension d", data["dimension"]),
        *((f"Label {name}", count) for name, count in list(data["labels"].items())[:6]),
        ("Length of a sample, median", data["median_length"]),
        ("shortest and longest", f"{data['shortest']:.4g} to {data['longest']:.4g}"),
    ]
    if data["ambient_dimension"] is not None:
        rows.insert(2, ("standing for dimension", data["ambient_dimension"]))
    if data["noisy"] is not None:
        rows.append(("Labels that noise changed", data["noisy"]))
    law = data.object("law")
    name, seed = law.get("name", "your own data"), law.get("seed")
    drawn = name if seed is None else f"{name}, seed {seed}"
    sentence = f"{data['samples']} samples in dimension {data['dimension']} ({drawn})."
    return Showing.of(sentence, rows, caption="The sample")


def sample_charts(data: Fields) -> list[Chart]:
    """Every sample: itself in the plane, on the line against its index, else along two principal directions."""
    drawn, variance = data.object("points"), data["variance"]
    rows: list[dict[str, object]] = [
        {"sample": sample, "first": first, "second": second, "label": label}
        for sample, (first, second), label in zip(drawn["sample"], drawn["at"], drawn["label"], strict=True)
    ]
    rows.sort(key=lambda row: str(row["label"]))
    names = ("x", "Sample") if data["dimension"] == 1 else ("x₁", "x₂")
    if variance is not None:
        names = (f"First direction ({100 * variance[0]:.0f} % of variance)", f"Second ({100 * variance[1]:.0f} %)")
    left = data["samples"] - len(rows)
    title = "Samples" if variance is None else "Samples along two principal directions"
    return [
        points(
            rows,
            x="first",
            y="second",
            series="label",
            titles={"first": names[0], "second": names[1], "label": "Label", "sample": "Sample"},
            title=title + (f" ({left} not drawn)" if left else ""),
            description="Every sample with its label.",
        )
    ]
