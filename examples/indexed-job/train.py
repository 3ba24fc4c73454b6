#!/usr/bin/env python3
"""Trains a small network on two spirals with PyTorch's DistributedDataParallel over gloo.

Every process of the job runs this. Where its peers are it knows from MASTER_ADDR, MASTER_PORT and WORLD_SIZE, which one it
is from --rank. Rank 0 keeps the list of who is here. When a peer dies, the others notice at the next exchange of
gradients, wait until its successor has come, and go on from the last checkpoint; when rank 0 dies, its successor has the
same name, and the others look there. Nobody sleeps for a guessed time.
"""

import argparse
import hashlib
import math
import os
import socket
import sys
import time
from datetime import timedelta

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the ranks share this machine's processors
os.environ.setdefault("USE_LIBUV", "0")  # Debian's PyTorch is built without it

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset  # noqa: E402

WORLD_SIZE = int(os.environ["WORLD_SIZE"])
MASTER_ADDR = os.environ["MASTER_ADDR"]
MASTER_PORT = int(os.environ.get("MASTER_PORT", "29500"))
CHECKPOINT = os.environ.get("CHECKPOINT", "")  # a file; empty: none is kept
EPOCHS = int(os.environ.get("EPOCHS", "50"))
GLOBAL_BATCH = 64
PATIENCE = timedelta(seconds=60)  # with a peer that is here but does not answer


def say(text):
    print(f"rank {RANK}: {text}", flush=True)


def every(seconds):
    """True at most once in so many seconds, for messages about a long wait."""
    state = {"next": 0.0}

    def due():
        now = time.monotonic()
        if now < state["next"]:
            return False
        state["next"] = now + seconds
        return True

    return due


def leave_if_done():
    """All epochs are trained: who was away when the others finished has nothing left to do."""
    try:
        with open(CHECKPOINT + ".done") as file:
            done = int(file.read()) >= EPOCHS
    except (OSError, ValueError):
        return
    if done:
        say(f"all {EPOCHS} epochs are in {CHECKPOINT}: nothing left to do")
        sys.exit(0)


# ---- Meeting ---------------------------------------------------------------------------------------------------------


def wait_for_master():
    """Until its name has an address and somebody listens there."""
    due = every(10)
    while True:
        try:
            socket.create_connection((MASTER_ADDR, MASTER_PORT), timeout=5).close()
            return
        except OSError as error:
            leave_if_done()
            if due():
                say(f"waiting for {MASTER_ADDR}:{MASTER_PORT}: {error}")
            time.sleep(0.2)


class Register:
    """Who is here, kept by rank 0. A generation is one try to train together; each rank can enter it once."""

    def __init__(self):
        if RANK == 0:
            self.store = dist.TCPStore("0.0.0.0", MASTER_PORT, is_master=True, wait_for_workers=False, timeout=PATIENCE)
        else:
            wait_for_master()
            self.store = dist.TCPStore(MASTER_ADDR, MASTER_PORT, is_master=False, wait_for_workers=False, timeout=PATIENCE)
        self.generation = 0

    def enter(self):
        """Wait until every rank has entered the same generation; its own part of the store is returned."""
        if RANK == 0:
            self.generation += 1
            self.store.set("generation", str(self.generation))
            self.store.add(f"{self.generation}/entered/0", 1)
        else:
            self.enter_next()
        due = every(10)
        while missing := [r for r in range(WORLD_SIZE) if self.store.add(f"{self.generation}/entered/{r}", 0) == 0]:
            leave_if_done()
            if due():
                say(f"waiting for rank {', '.join(map(str, missing))}")
            time.sleep(0.2)
            if RANK != 0 and int(self.store.get("generation")) != self.generation:
                self.enter_next()
        return dist.PrefixStore(f"generation-{self.generation}", self.store)

    def enter_next(self):
        """The newest generation, if this rank has not been in it: a predecessor may have been."""
        while True:
            generation = int(self.store.get("generation"))
            if self.store.add(f"{generation}/entered/{RANK}", 1) == 1:
                self.generation = generation
                return
            leave_if_done()
            time.sleep(0.2)


# ---- Training --------------------------------------------------------------------------------------------------------


def spirals(count, seed):
    """Points of two arms that wind around each other, and to which arm each belongs."""
    random = torch.Generator().manual_seed(seed)
    arm = torch.randint(0, 2, (count,), generator=random)
    way = torch.rand(count, generator=random).sqrt() * 3 * math.pi
    angle = way + arm * math.pi
    points = torch.stack([way * angle.cos(), way * angle.sin()], dim=1) / (3 * math.pi)
    return TensorDataset(points + 0.02 * torch.randn(count, 2, generator=random), arm)


def make_network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2)
    )


def load(network, optimizer):
    if not CHECKPOINT or not os.path.exists(CHECKPOINT):
        return 0
    state = torch.load(CHECKPOINT)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    if RANK == 0:
        say(f"going on after epoch {state['epoch']} of {CHECKPOINT}")
    return state["epoch"]


def write(path, fill):
    """Aside, then in place: whoever reads finds a whole file, whenever this process dies."""
    if not CHECKPOINT or RANK != 0:
        return
    with open(path + ".new", "wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def save(network, optimizer, epoch):
    state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    write(CHECKPOINT, lambda file: torch.save(state, file))


def accuracy(network):
    points, arms = spirals(2000, seed=8).tensors
    with torch.no_grad():
        return (network(points).argmax(dim=1) == arms).float().mean().item()


def check_weights(network):
    """Every rank must hold the same bits: that is what training together means."""
    mine = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in network.parameters())).hexdigest()
    all_of_them = [None] * WORLD_SIZE
    dist.all_gather_object(all_of_them, mine)
    if len(set(all_of_them)) != 1:
        sys.exit(f"the ranks hold different weights: {all_of_them}")
    if RANK == 0:
        say(f"all {WORLD_SIZE} ranks hold the same weights, {mine[:16]}; accuracy on new points {accuracy(network):.3f}")


def train():
    network = make_network()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.005)
    done = load(network, optimizer)
    model = DistributedDataParallel(network)  # the loss must go through it, or no gradient is averaged
    data = spirals(8000, seed=7)
    sampler = DistributedSampler(data, WORLD_SIZE, RANK, shuffle=True, seed=3)  # each rank another part
    loader = DataLoader(data, batch_size=GLOBAL_BATCH // WORLD_SIZE, sampler=sampler)
    for epoch in range(done + 1, EPOCHS + 1):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for points, arms in loader:
            loss = torch.nn.functional.cross_entropy(model(points), arms)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() / len(loader)
        dist.all_reduce(total)
        save(network, optimizer, epoch)
        if RANK == 0 and epoch % 5 == 0:
            say(f"epoch {epoch} of {EPOCHS}, loss {total.item() / WORLD_SIZE:.4f}")
    check_weights(network)
    write(CHECKPOINT + ".done", lambda file: file.write(str(EPOCHS).encode()))


def start_anew():
    """The same program in the same process. gloo's connections must end with it, or the others would not notice."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                pass  # the one the list itself was read from
    os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    register = Register()
    while True:
        try:
            store = register.enter()
            say(f"all {WORLD_SIZE} ranks are here, try {register.generation}")
            dist.init_process_group("gloo", store=store, rank=RANK, world_size=WORLD_SIZE, timeout=PATIENCE)
            train()
            dist.barrier()
            return
        except RuntimeError as error:  # what gloo and the store raise when a peer is gone
            say(f"lost a peer ({str(error).splitlines()[0]:.100}); forming again")
            if RANK != 0:
                start_anew()  # rank 0 itself may be another one now
            if dist.is_initialized():
                dist.destroy_process_group()


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rank", type=int, required=True)
RANK = parser.parse_args().rank
if __name__ == "__main__":
    main()
