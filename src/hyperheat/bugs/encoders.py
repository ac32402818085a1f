"""Which encoder a configuration means, and how it reads samples."""

from typing import Any

from torch import nn

from hyperheat.detector.views import BinaryEdges, Hyperedges, Pairs, Tokens, View
from hyperheat.nn import AllSetConfig, AllSetEncoder, HeatConfig, HeatEncoder, RoleConfig, RoleEncoder
from hyperheat.nn.peers.gnn import GnnConfig, GnnEncoder
from hyperheat.nn.peers.great import GreatConfig, GreatEncoder
from hyperheat.tensors import Vocabulary

__all__ = ["EncoderConfig", "build_encoder", "roles_of", "view_of"]

EncoderConfig = HeatConfig | RoleConfig | GnnConfig | GreatConfig | AllSetConfig

_ENCODERS: dict[type, Any] = {
    HeatConfig: HeatEncoder,
    RoleConfig: RoleEncoder,
    AllSetConfig: AllSetEncoder,
    GnnConfig: GnnEncoder,
    GreatConfig: GreatEncoder,
}


def build_encoder(config: EncoderConfig, vocab: Vocabulary) -> nn.Module:
    """The encoder with fresh weights."""
    return _ENCODERS[type(config)](config, vocab)


def roles_of(config: EncoderConfig) -> int:
    """How many roles its vocabulary must have kinds for, at most."""
    return config.roles if isinstance(config, RoleConfig) else 0


def view_of(config: EncoderConfig, *, binarise: bool = False) -> View:
    """How the encoder reads samples."""
    if isinstance(config, HeatConfig | RoleConfig | AllSetConfig):
        return BinaryEdges() if binarise else Hyperedges()
    if binarise:
        raise ValueError(f"binarise: expected False for {type(config).__name__}, which reads pairs, got True")
    if isinstance(config, GnnConfig):
        return Pairs(config.relations, config.subtokens)
    return Tokens(config.relations, config.max_tokens)
