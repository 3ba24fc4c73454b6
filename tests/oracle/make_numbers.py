#!/usr/bin/python3
"""What PyTorch makes of a fixed small network: numbers.txt, which the unit test train_oracle holds ours against.

    tests/oracle/make_numbers.py > tests/oracle/numbers.txt

Every kind of layer of the models is in it, with two losses and three optimizers. Pictures and first values come from an
integer formula that test_oracle.c has as well; PyTorch computes in double, so what is written is right to more digits
than float32 has. For each run: the loss of each step, some outputs and all gradients of the first step, all values
after the last. A tensor is written as the sum of its values, the sum of their magnitudes, and its first four, in the order of our
layout (height, width, in, out).
"""
import torch
import torch.nn.functional as F

SIDE, CHANNELS, BATCH, CLASSES, STEPS = 12, 3, 8, 8, 5
LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
RATES = {"sgd": 0.01, "adam": 0.002, "adagrad": 0.01}
WEIGHT_DECAY, MARGIN = 0.01, 0.4
SALT_INPUT = 1000

# In the order in which our layers declare them, with the shapes of our layout.
PARAMS = {
    "conv1.weights": (3, 3, CHANNELS, 16), "norm1.scale": (16,), "norm1.shift": (16,),
    "conv2.weights": (3, 3, 16, 32), "norm2.scale": (32,), "norm2.shift": (32,), "norm2.mean": (32,), "norm2.variance": (32,),
    "depth3.weights": (3, 3, 32), "norm3.scale": (32,), "norm3.shift": (32,),
    "project.weights": (1, 1, 16, 32), "conv4.weights": (3, 3, 32, 16), "bias4.bias": (16,),
    "dense.weights": (16, CLASSES), "dense.bias": (CLASSES,),
}


def formula(count, salt):
    """Numbers from -0.5 to 0.5, exact in float32."""
    numbers = []
    for i in range(count):
        x = (i * 2654435761 + salt * 40503 + 12345) & 0xFFFFFFFF
        x ^= x >> 15
        x = x * 2246822519 & 0xFFFFFFFF
        x ^= x >> 13
        numbers.append((x & 0xFFFF) / 65536 - 0.5)
    return torch.tensor(numbers, dtype=torch.float64)


def first_values():
    values = {}
    for salt, (name, shape) in enumerate(PARAMS.items()):
        numbers = formula(torch.Size(shape).numel(), salt).reshape(shape)
        kind = name.split(".")[1]
        if kind == "weights":
            values[name] = numbers
        elif kind == "mean":
            values[name] = torch.zeros(shape, dtype=torch.float64)
        elif kind == "variance":
            values[name] = torch.ones(shape, dtype=torch.float64)
        else:
            values[name] = numbers / 2 + (1 if kind == "scale" else 0)
        values[name].requires_grad_(kind not in ("mean", "variance"))
    return values


def conv(x, weights, stride=1):
    return F.conv2d(x, weights.permute(3, 2, 0, 1), stride=stride, padding=(weights.shape[0] - 1) // 2)


def network(v, x):
    x = F.relu(F.group_norm(conv(x, v["conv1.weights"]), 4, v["norm1.scale"], v["norm1.shift"], eps=1e-5))
    y = conv(x, v["conv2.weights"], 2)
    y = F.relu(F.batch_norm(y, v["norm2.mean"], v["norm2.variance"], v["norm2.scale"], v["norm2.shift"], training=True,
                            momentum=0.1, eps=1e-5))
    y = F.conv2d(y, v["depth3.weights"].permute(2, 0, 1).unsqueeze(1), padding=1, groups=32)
    y = F.group_norm(y, 4, v["norm3.scale"], v["norm3.shift"], eps=1e-5)
    x = F.relu(y + conv(x, v["project.weights"], 2))
    x = conv(F.max_pool2d(x, 2), v["conv4.weights"])
    x = F.relu(x + v["bias4.bias"][:, None, None]).mean((2, 3))
    return x @ v["dense.weights"] + v["dense.bias"]


def softmax_loss(logits):
    return F.cross_entropy(logits, LABELS)


def triplet_loss(embeddings):
    """Semi-hard: for each pair the nearest stranger beyond it, or the farthest where all are nearer."""
    distance = ((embeddings[:, None] - embeddings[None]) ** 2).sum(2)
    losses = []
    for anchor in range(BATCH):
        strangers = [k for k in range(BATCH) if LABELS[k] != LABELS[anchor]]
        for positive in range(BATCH):
            if positive == anchor or LABELS[positive] != LABELS[anchor]:
                continue
            row = distance[anchor]
            beyond = [k for k in strangers if row[k] > row[positive]]
            negative = min(beyond, key=lambda k: row[k]) if beyond else max(strangers, key=lambda k: row[k])
            losses.append((row[positive] - row[negative] + MARGIN).clamp(min=0))
    return torch.stack(losses).mean()


def make_optimizer(name, values):
    trained = {key: value for key, value in values.items() if value.requires_grad}
    groups = [{"params": [v for k, v in trained.items() if k.endswith(".weights")], "weight_decay": WEIGHT_DECAY},
              {"params": [v for k, v in trained.items() if not k.endswith(".weights")], "weight_decay": 0}]
    if name == "sgd":
        return torch.optim.SGD(groups, lr=RATES[name], momentum=0.9)
    if name == "adam":
        return torch.optim.AdamW(groups, lr=RATES[name])
    return torch.optim.Adagrad(groups, lr=RATES[name], initial_accumulator_value=1e-6)


def tensor_line(kind, name, tensor):
    flat = tensor.detach().reshape(-1)
    numbers = [flat.sum().item(), flat.abs().sum().item(), *flat[:4].tolist()]
    print(kind, name, *(f"{number:.9g}" for number in numbers))


def run(loss_name, optimizer_name):
    print("run", loss_name, optimizer_name)
    values = first_values()
    optimizer = make_optimizer(optimizer_name, values)
    pictures = (formula(BATCH * SIDE * SIDE * CHANNELS, SALT_INPUT) * 4).reshape(BATCH, SIDE, SIDE, CHANNELS).permute(0, 3, 1, 2)
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        output = network(values, pictures)
        if loss_name == "triplet":
            output = F.normalize(output)
        loss = triplet_loss(output) if loss_name == "triplet" else softmax_loss(output)
        loss.backward()
        print("loss", step, f"{loss.item():.9g}")
        if step == 1:
            for sample in range(2):
                print("output", sample, *(f"{number:.9g}" for number in output[sample].tolist()))
            for name, value in values.items():
                if value.requires_grad:
                    tensor_line("gradient", name, value.grad)
        optimizer.step()
    for name, value in values.items():
        tensor_line("value", name, value)


print("# Made by make_numbers.py; see there. Not to be edited by hand.")
for loss_kind in ("softmax", "triplet"):
    for optimizer_kind in RATES:
        run(loss_kind, optimizer_kind)
