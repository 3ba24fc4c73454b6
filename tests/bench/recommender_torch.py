"""Training the recommender of Monolith's MovieLens demo in PyTorch, one thread: the peer of bench_recommender.c.

The same data, embeddings with sparse gradients, network, batch and Adagrad. Prints the best of several epochs in ratings per
second of processor time.
"""
import json
import time

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)
USERS, ITEMS, RATINGS, BATCH, EPOCHS = 671, 9066, 100000, 512, 4

users = torch.randint(USERS, (RATINGS,))
items = (torch.rand(RATINGS) ** 3 * ITEMS).long()
ratings = torch.randint(1, 10, (RATINGS, 1)) / 2

user_table = nn.Embedding(USERS, 32, sparse=True)
item_table = nn.Embedding(ITEMS, 32, sparse=True)
network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))
parameters = [*user_table.parameters(), *item_table.parameters(), *network.parameters()]
optimizer = torch.optim.Adagrad(parameters, lr=0.05, initial_accumulator_value=0.1)
best = 0
for _ in range(EPOCHS):
    start = time.process_time()
    order = torch.randperm(RATINGS)
    for at in range(0, RATINGS, BATCH):
        batch = order[at:at + BATCH]
        optimizer.zero_grad()
        score = network(torch.cat([user_table(users[batch]), item_table(items[batch])], 1))
        nn.functional.mse_loss(score, ratings[batch]).backward()
        optimizer.step()
    best = max(best, RATINGS / (time.process_time() - start))
print(json.dumps({"name": "recommender torch 1 thread", "value": round(best), "unit": "ratings/s"}))
