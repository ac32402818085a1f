"""The reference knows every part of a layer, or says so."""

import pytest
from tests.nn.models import example_graph, make_encoder

from hyperheat import Vocabulary
from hyperheat.nn import reference


class Newcomer:
    """A part that nothing knows yet."""


@pytest.mark.parametrize("slot", ["qualifier", "message", "aggregate", "feed_forward", "edge_update"])
def test_unknown_parts_are_refused(slot):
    graph = example_graph()
    encoder = make_encoder("heat", Vocabulary.build([graph]))
    object.__setattr__(encoder.config, slot, Newcomer)  # past the check of the settings
    with pytest.raises(ValueError, match=r"^Newcomer: this part of a layer is not in the reference yet"):
        reference.encode(encoder, graph)
