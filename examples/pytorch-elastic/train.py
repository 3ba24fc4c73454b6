#!/usr/bin/env python3
"""Trains a small network under torchrun, with as many workers as there happen to be.

torchrun starts this program anew whenever a worker comes or goes, with a RANK and a WORLD_SIZE of that moment; it goes on
after the last epoch in the snapshot, which every worker must be able to read.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

SNAPSHOT = os.environ.get("SNAPSHOT", "snapshot.pt")
EPOCHS = int(os.environ.get("EPOCHS", "300"))


def make_data():
    generator = torch.Generator().manual_seed(1)
    x = torch.rand(6000, 1, generator=generator) * 6 - 3
    return TensorDataset(x, torch.sin(2 * x))


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    first = 0
    if os.path.exists(SNAPSHOT):
        state = torch.load(SNAPSHOT)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
    print(f"rank {rank} of {world_size} begins after epoch {first}", flush=True)
    model = DistributedDataParallel(network)
    data = make_data()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=120 // world_size, sampler=sampler)
    for epoch in range(first + 1, EPOCHS + 1):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} workers {world_size} loss {total.item() / len(loader) / world_size:.5f}", flush=True)
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
            torch.save(state, SNAPSHOT + ".new")
            os.replace(SNAPSHOT + ".new", SNAPSHOT)
    dist.barrier()
    print(f"rank {rank} of {world_size} is done", flush=True)


if __name__ == "__main__":
    sys.exit(main())
