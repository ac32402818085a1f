"""HEAT, its variants and its peers in PyTorch."""

from hyperheat.nn.allset import AllSetConfig, AllSetEncoder
from hyperheat.nn.config import VARIANTS, HeatConfig
from hyperheat.nn.heat import HeatEncoder, HeatLayer, States

__all__ = ["VARIANTS", "AllSetConfig", "AllSetEncoder", "HeatConfig", "HeatEncoder", "HeatLayer", "States"]
