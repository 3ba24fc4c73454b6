"""A worker of an elastic training, for torchrun_elastic. In each step the group sums one number. The worker with rank 0 keeps the number of
the last step in a directory, and a new group continues from there. Each step appends a line "TIME RANK WORLD STEP START" to the file
`steps` there; START is the time when the process of the worker began."""
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
