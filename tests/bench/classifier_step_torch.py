"""One training step of the classifier in PyTorch, one thread: the peer of bench_classifier_step.c.

The same network (two convolutions of 5x5, a hidden layer of 1024 with dropout), batch (100 pictures of 28x28), cross-entropy and
SGD with momentum. Memory is channels_last; TORCH_MKLDNN=1 turns oneDNN on. Prints the best of several steps in
milliseconds of processor time.
"""
import json
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = os.environ.get("TORCH_MKLDNN") == "1"
torch.manual_seed(1)
BATCH, STEPS = 100, 8

model = nn.Sequential(
    nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10)
).to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
pictures = torch.rand(BATCH, 1, 28, 28).to(memory_format=torch.channels_last)
labels = torch.randint(10, (BATCH,))
best = float("inf")
for _ in range(STEPS):
    start = time.process_time()
    optimizer.zero_grad()
    F.cross_entropy(model(pictures), labels).backward()
    optimizer.step()
    best = min(best, time.process_time() - start)
print(json.dumps({"name": "classifier step torch 1 thread", "value": round(best * 1000, 3), "unit": "ms"}))
