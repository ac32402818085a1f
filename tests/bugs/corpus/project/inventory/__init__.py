"""Goods in a warehouse."""
