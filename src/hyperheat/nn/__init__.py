"""HEAT, its variants and its peers in PyTorch."""

from hyperheat.nn.allset import AllSetConfig, AllSetEncoder
from hyperheat.nn.config import VARIANTS, HeatConfig
from hyperheat.nn.gnn import GnnConfig, GnnEncoder
from hyperheat.nn.great import GreatConfig, GreatEncoder
from hyperheat.nn.heat import HeatEncoder, HeatLayer, States

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
