"""A module that takes its time to be imported."""

import time

time.sleep(0.3)
DONE = True
