#!/usr/bin/env python3
"""Fits a line to points with synchronous gradient descent; who takes part is in TF_CONFIG, as for tf.distribute.

The chief keeps the two numbers of the line and hands them out; every worker computes the gradient on its own points and
sends it back. Only Python itself is needed.
"""

import json
import os
import random
import socket
import time

STEPS = 200
RATE = 0.1
SLOPE, OFFSET = 3.0, -1.0  # what is to be found

config = json.loads(os.environ["TF_CONFIG"])
cluster, task = config["cluster"], config["task"]
workers = len(cluster["worker"])


def split(address):
    host, port = address.rsplit(":", 1)
    return host, int(port)


def chief():
    line = [0.0, 0.0]
    port = split(cluster["chief"][task["index"]])[1]
    with socket.create_server(("", port)) as server:
        peers = [server.accept()[0].makefile("rw") for _ in range(workers)]
    print(f"chief: {workers} workers are here", flush=True)
    for step in range(1, STEPS + 1):
        for peer in peers:
            print(json.dumps(line), file=peer, flush=True)
        gradients = [json.loads(peer.readline()) for peer in peers]
        for i in range(2):
            line[i] -= RATE * sum(gradient[i] for gradient in gradients) / workers
        if step % 50 == 0:
            print(f"chief: step {step} slope {line[0]:.3f} offset {line[1]:.3f}", flush=True)
    for peer in peers:
        print("null", file=peer, flush=True)


def connect(address):
    while True:
        try:
            return socket.create_connection(split(address)).makefile("rw")
        except OSError as error:  # the chief starts at the same time as we do
            print(f"worker {task['index']}: waiting for {address}: {error}", flush=True)
            time.sleep(0.5)


def worker():
    dice = random.Random(task["index"])
    points = [(x, SLOPE * x + OFFSET + dice.gauss(0, 0.1)) for x in (dice.uniform(-1, 1) for _ in range(1000))]
    peer = connect(cluster["chief"][0])
    while (line := json.loads(peer.readline())) is not None:
        errors = [(line[0] * x + line[1] - y, x) for x, y in points]
        gradient = [sum(e * x for e, x in errors) / len(points), sum(e for e, _ in errors) / len(points)]
        print(json.dumps(gradient), file=peer, flush=True)
    print(f"worker {task['index']}: done", flush=True)


if task["type"] == "chief":
    chief()
elif task["type"] == "worker":
    worker()
