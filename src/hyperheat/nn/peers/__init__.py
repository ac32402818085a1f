"""Other encoders with HEAT's interface, to compare with."""
