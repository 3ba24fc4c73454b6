"""One training step of the face model in PyTorch, one thread: the peer of bench_face_step.c.

The same network (residual, group norm, 128-d embedding of length 1), batch (24 persons x 4 pictures of 64x64), semi-hard
triplets and Adam. oneDNN is off and memory is channels_last, which is PyTorch's fastest setting for such a network on
processors where Debian's oneDNN has no kernels of its own; TORCH_MKLDNN=1 turns it on. Prints the best of several steps in
milliseconds of processor time.
"""
import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = os.environ.get("TORCH_MKLDNN") == "1"
torch.manual_seed(1)
PERSONS, PICTURES, SIDE, WIDTH, STEPS = 24, 4, int(sys.argv[1]) if len(sys.argv) > 1 else 64, 16, 8


class Block(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.conv1 = nn.Conv2d(into, out, 3, 2, 1, bias=False)
        self.norm1 = nn.GroupNorm(out // 8, out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(out // 8, out)
        self.project = nn.Conv2d(into, out, 1, 2, 0, bias=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.project(x))


class Face(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, WIDTH, 3, 2, 1, bias=False)
        self.norm = nn.GroupNorm(WIDTH // 8, WIDTH)
        self.blocks = nn.Sequential(Block(WIDTH, 2 * WIDTH), Block(2 * WIDTH, 4 * WIDTH), Block(4 * WIDTH, 6 * WIDTH))
        self.embedding = nn.Linear(6 * WIDTH * (SIDE // 16) ** 2, 128)

    def forward(self, x):
        x = self.blocks(F.relu(self.norm(self.stem(x))))
        return F.normalize(self.embedding(x.flatten(1)))


def semi_hard_loss(embeddings, labels, margin=0.4):
    distance = (2 - 2 * embeddings @ embeddings.T).clamp(min=0)
    same = labels[:, None] == labels[None, :]
    pairs = same & ~torch.eye(len(labels), dtype=torch.bool)
    anchor, positive = pairs.nonzero(as_tuple=True)
    with torch.no_grad():
        rows = distance[anchor].masked_fill(same[anchor], float("inf"))
        harder = rows.masked_fill(rows <= distance[anchor, positive][:, None], float("inf"))
        nearest, negative = harder.min(1)
        farthest = distance[anchor].masked_fill(same[anchor], -1).argmax(1)
        negative = torch.where(torch.isinf(nearest), farthest, negative)
    return (distance[anchor, positive] - distance[anchor, negative] + margin).clamp(min=0).mean()


model = Face().to(memory_format=torch.channels_last)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
pictures = torch.randn(PERSONS * PICTURES, 1, SIDE, SIDE).to(memory_format=torch.channels_last)
labels = torch.arange(PERSONS).repeat_interleave(PICTURES)
best = float("inf")
for _ in range(STEPS):
    start = time.process_time()
    optimizer.zero_grad()
    semi_hard_loss(model(pictures), labels).backward()
    optimizer.step()
    best = min(best, time.process_time() - start)
print(json.dumps({"name": "face step torch 1 thread", "value": round(best * 1000, 3), "unit": "ms"}))
