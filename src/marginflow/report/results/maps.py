"""What a page says of a map: where a theorem says something, and its bounds beside what was observed."""

from marginflow.report.atlas_chart import atlas_chart, observed_chart
from marginflow.report.page import Section
from marginflow.report.results.summary import Fields, Summary


def atlas(record: Fields) -> Summary:
    """A map as `marginflow map` writes it, with or without observations."""
    sections = [Section(heading="The map", content=(atlas_chart(record),))]
    if record["observed_name"]:
        drawn = observed_chart(record)
        words = f"Observed: {record['observed_name']}. Below the dashed line the observed value is smaller."
        sections.append(Section(heading=drawn.title, paragraphs=(words,), content=(drawn,)))
    return Summary(sentence=str(record["sentence"]), tone="open", sections=tuple(sections))
