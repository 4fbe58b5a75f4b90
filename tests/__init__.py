"""The tests of sentprobe."""

import os

# matrices are small here and pytest has a process per core: several threads would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
# read when torch is imported: a virtual machine may promise AMX, which oneDNN uses for bfloat16, and not have it
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
