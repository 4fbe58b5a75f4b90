"""The tests of sonde."""

import os

# matrices are small here and pytest has a process per core: several threads would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
