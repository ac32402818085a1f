"""With one edge, no qualifiers and tied updates, a HEAT layer is a Transformer encoder layer."""

import pytest
import torch
from torch import nn

from hyperheat import HeatConfig, HeatEncoder, HypergraphBuilder, Vocabulary, collate
from hyperheat.nn.embedding import NoQualifiers
from hyperheat.nn.update import TiedUpdate


def transformer_of(layer, config: HeatConfig) -> nn.TransformerEncoderLayer:
    """The layer of torch itself with the weights of a HEAT layer."""
    other = nn.TransformerEncoderLayer(
        config.dim, config.heads, config.hidden, config.dropout, activation="relu", batch_first=True
    )
    update = layer.update.node
    with torch.no_grad():
        for target, source in (
            (other.self_attn.in_proj_weight, layer.message.qkv.weight),
            (other.self_attn.in_proj_bias, layer.message.qkv.bias),
            (other.self_attn.out_proj.weight, layer.message.out.weight),
            (other.self_attn.out_proj.bias, layer.message.out.bias),
            (other.linear1.weight, update.feed_forward.widen.weight),
            (other.linear1.bias, update.feed_forward.widen.bias),
            (other.linear2.weight, update.feed_forward.narrow.weight),
            (other.linear2.bias, update.feed_forward.narrow.bias),
            (other.norm1.weight, update.norm.weight),
            (other.norm1.bias, update.norm.bias),
            (other.norm2.weight, update.feed_forward.norm.weight),
            (other.norm2.bias, update.feed_forward.norm.bias),
        ):
            target.copy_(source)
    return other.to(layer.message.qkv.weight.dtype).eval()


@pytest.mark.parametrize("length", [1, 2, 7, 40])
def test_one_edge_is_a_transformer(length):
    b = HypergraphBuilder()
    b.relate_sequence("Seq", [b.add_node(f"word{i}") for i in range(length)])
    vocab = Vocabulary.build([b.build()])
    config = HeatConfig(dim=16, layers=3, heads=4, ff=24, qualifier=NoQualifiers, edge_update=TiedUpdate)
    torch.manual_seed(1)
    encoder = HeatEncoder(config, vocab).double().eval()
    batch = collate([b.build()], vocab).to_torch()
    states = encoder(batch)
    h, _ = encoder.embedding(batch)
    sequence = torch.cat([h[length:], h[:length]])[None]  # the edge state takes part like a [CLS] token
    for layer in encoder.layers:
        sequence = transformer_of(layer, config)(sequence)
    assert torch.allclose(states.edges, sequence[0, :1], atol=1e-10)
    assert torch.allclose(states.nodes, sequence[0, 1:], atol=1e-10)


def test_qualifiers_are_positional_encodings_added_in_every_layer():
    """With qualifiers, the layer's input is state + projected position, as in a Transformer with positions."""
    b = HypergraphBuilder()
    b.relate_sequence("Seq", [b.add_node(f"word{i}") for i in range(5)])
    vocab = Vocabulary.build([b.build()])
    config = HeatConfig(dim=16, layers=1, heads=4, ff=24, edge_update=TiedUpdate)
    torch.manual_seed(1)
    encoder = HeatEncoder(config, vocab).double().eval()
    batch = collate([b.build()], vocab).to_torch()
    h, r = encoder.embedding(batch)
    layer = encoder.layers[0]
    other = transformer_of(layer, config)
    positions = layer.qualifier(r)[-5:]  # pyright: ignore[reportCallIssue]
    sequence = torch.cat([h[5:], h[:5] + positions])[None]
    attended = other.self_attn(sequence, sequence, sequence, need_weights=False)[0][0]
    q = other.norm1(torch.cat([h[5:], h[:5]]) + attended)
    expected = other.norm2(q + other.linear2(torch.relu(other.linear1(q))))
    states = encoder(batch)
    assert torch.allclose(torch.cat([states.edges, states.nodes]), expected, atol=1e-10)
