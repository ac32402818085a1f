"""HEAT, its variants and its peers in PyTorch."""

from hyperheat.nn.config import VARIANTS, HeatConfig
from hyperheat.nn.heat import HeatEncoder, HeatLayer, States
from hyperheat.nn.peers.allset import AllSetConfig, AllSetEncoder
from hyperheat.nn.peers.gnn import GnnConfig, GnnEncoder
from hyperheat.nn.peers.great import GreatConfig, GreatEncoder

__all__ = [
    "VARIANTS",
    "AllSetConfig",
    "AllSetEncoder",
    "GnnConfig",
    "GnnEncoder",
    "GreatConfig",
    "GreatEncoder",
    "HeatConfig",
    "HeatEncoder",
    "HeatLayer",
    "States",
]
