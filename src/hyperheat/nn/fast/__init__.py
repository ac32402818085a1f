"""The fast paths of `hyperheat.nn`, each tested against `hyperheat.nn.reference`."""
