"""The settings of a corpus."""

import pytest

from hyperheat.bugs.corpus import CorpusError, CorpusSettings


@pytest.mark.parametrize(
    ("field", "value"),
    [("clean", 0.0), ("clean", 1.5), ("functions_per_package", 0), ("dense", -1), ("rate", 0.0)],
)
def test_settings_that_mean_nothing_are_refused(field, value):
    with pytest.raises(CorpusError, match=f"{field}: expected .*, got {value}"):
        CorpusSettings(**{field: value})
