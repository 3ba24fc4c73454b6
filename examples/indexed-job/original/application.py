#!/usr/bin/env python3
"""Meets its peers at the address it was given and adds something up with them: all that every pod must know is the master."""

import os
from datetime import timedelta

os.environ.setdefault("USE_LIBUV", "0")  # Debian's PyTorch is built without it

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
master = f"{os.environ['MASTER_ADDRESS']}:{os.environ['MASTER_PORT']}"

print(f"rank {rank} of {world_size}: the master is {master}", flush=True)
dist.init_process_group(
    os.environ["BACKEND"],
    init_method=f"tcp://{master}",
    rank=rank,
    world_size=world_size,
    timeout=timedelta(seconds=int(os.environ["TIME_OUT"])),
)
total = torch.tensor([rank + 1])
dist.all_reduce(total)
print(f"rank {rank} of {world_size}: 1 to {world_size} make {total.item()}", flush=True)
dist.barrier()
dist.destroy_process_group()
