"""A worker of an elastic training, for torchrun_elastic: the group adds up one number per step and keeps the number of the last step in a
directory, from which a new group goes on. Each step is a line "TIME RANK WORLD STEP START" in the file `steps` there; START is when the process of the
worker began."""
import os
import sys
import time

import torch
import torch.distributed as group

began = time.time()

directory, steps, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])


def last_step():
    try:
        with open(f"{directory}/checkpoint") as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


def keep(step):
    with open(f"{directory}/checkpoint.new", "w") as file:
        file.write(str(step))
    os.rename(f"{directory}/checkpoint.new", f"{directory}/checkpoint")


group.init_process_group("gloo")
rank, world = group.get_rank(), group.get_world_size()
start = torch.tensor([last_step()])
group.broadcast(start, 0)
for step in range(int(start) + 1, steps + 1):
    total = torch.ones(1)
    group.all_reduce(total)
    assert total.item() == world, total
    if rank == 0:
        keep(step)
    with open(f"{directory}/steps", "a") as file:
        file.write(f"{time.time():.3f} {rank} {world} {step} {began:.3f}\n")
    time.sleep(pause)
group.barrier()
