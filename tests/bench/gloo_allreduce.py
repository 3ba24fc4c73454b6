"""The peer of bench_allreduce.c in PyTorch with Gloo: two processes with one thread each, 25 MiB of floats. Prints the median call."""
import json
import os
import sys
import tempfile
import time

import torch
import torch.distributed as distributed

BYTES, CALLS, RANKS = 25 << 20, 20, 2


def work(rank, place):
    distributed.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=RANKS)
    data, times = torch.zeros(BYTES // 4), []
    for call in range(CALLS + 3):
        distributed.barrier()
        start = time.monotonic()
        distributed.all_reduce(data)
        if call >= 3:
            times.append(time.monotonic() - start)
    median = sorted(times)[CALLS // 2]
    if rank == 0:
        print(json.dumps({"name": "allreduce 25 MiB Gloo 2 ranks", "value": BYTES / median / 1e9 * 2 * (RANKS - 1) / RANKS,
                          "unit": "GB/s", "us": median * 1e6}), flush=True)


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="trainyard-gloo.") as scratch:
        place = os.path.join(scratch, "meeting")
        child = os.fork()
        work(1 if child == 0 else 0, place)
        if child == 0:
            sys.stdout.flush()
            os._exit(0)
        sys.exit(os.waitpid(child, 0)[1] != 0)


main()
