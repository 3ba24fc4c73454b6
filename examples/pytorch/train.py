#!/usr/bin/env python3
"""Trains a small classifier with DistributedDataParallel.

Run one process for each rank with MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK set. With --checkpoint FILE, which all
ranks must be able to read, training goes on after the last epoch that is in it.
"""

import argparse
import hashlib
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def make_data(samples):
    """Points in the plane; the label says which quarter of a chessboard they lie in."""
    generator = torch.Generator().manual_seed(1)
    points = torch.rand(samples, 2, generator=generator) * 4 - 2
    labels = (points.floor().sum(dim=1) % 2).long()
    return TensorDataset(points, labels)


def load(path, model, optimizer):
    if not path or not os.path.exists(path):
        return 0
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"]


def save(path, model, optimizer, epoch):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path + ".new")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=64, help="of each rank")
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--checkpoint", default="")
    args = parser.parse_args()

    dist.init_process_group(args.backend, init_method="env://")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world_size} is ready", flush=True)

    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    first = load(args.checkpoint, network, optimizer)
    if first > 0:
        print(f"rank {rank}: resuming after epoch {first}", flush=True)
    model = DistributedDataParallel(network)
    data = make_data(args.samples)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler)

    for epoch in range(first + 1, args.epochs + 1):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for points, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(points), labels)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total.item() / len(loader) / world_size:.4f}", flush=True)
            if args.checkpoint:
                save(args.checkpoint, network, optimizer, epoch)

    dist.barrier()
    weights = b"".join(parameter.detach().numpy().tobytes() for parameter in network.parameters())
    print(f"rank {rank}: weights {hashlib.sha256(weights).hexdigest()[:16]}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
