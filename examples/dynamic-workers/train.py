#!/usr/bin/env python3
"""Fits a plane to points with parameter servers and as many workers as there happen to be.

TF_CONFIG is the sparse one of enableDynamicWorker: a worker is told of itself and of all parameter servers, a parameter server
of itself alone. So nobody has to be told when a worker comes or goes. Every server holds its share of the weights; a worker
gets them, computes a gradient on points of its own and sends each server its part. Server 0 counts, and says when it is
enough. Only Python itself is needed.
"""

import json
import os
import random
import socket
import threading
import time

STEPS = 1200  # of all workers together
RATE = 0.05
TRUTH = [3.0, -1.0, 0.5, 2.0, -2.5, 1.5]  # what is to be found
PAUSE = 0.05  # seconds: stands for what a larger model would have to compute

config = json.loads(os.environ["TF_CONFIG"])
cluster, task = config["cluster"], config["task"]


def split(address):
    host, port = address.rsplit(":", 1)
    return host, int(port)


def say(text):
    print(f"{task['type']} {task['index']}: {text}", flush=True)


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.weights = {}
        self.workers = set()
        self.steps = 0

    def serve(self):
        # The one server that is listed is this one, whatever its index.
        with socket.create_server(("", split(cluster["ps"][0])[1])) as server:
            while True:
                peer = server.accept()[0].makefile("rw")
                threading.Thread(target=self.attend, args=(peer,), daemon=True).start()

    def attend(self, peer):
        name = json.loads(peer.readline())
        with self.lock:
            self.workers.add(name)
            say(f"{name} is here, workers: {len(self.workers)}")
        try:
            for line in peer:
                print(json.dumps(self.answer(json.loads(line))), file=peer, flush=True)
        except OSError:  # the worker went while it was written to
            pass
        with self.lock:
            self.workers.discard(name)
            say(f"{name} has gone, workers: {len(self.workers)}")

    def answer(self, gradient):
        """The weights after this gradient, or null when it is enough."""
        with self.lock:
            for i, part in gradient.items():
                self.weights[i] = self.weights.get(i, 0.0) - RATE * part
            self.steps += 1
            if task["index"] == 0 and self.steps <= STEPS and self.steps % 100 == 0:
                say(f"step {self.steps} of {STEPS}, workers: {len(self.workers)}")
            return None if task["index"] == 0 and self.steps > STEPS else self.weights


def connect(address):
    while True:
        try:
            peer = socket.create_connection(split(address)).makefile("rw")
            print(json.dumps(f"worker {task['index']}"), file=peer, flush=True)
            return peer
        except OSError as error:  # servers start at the same time as we do
            say(f"waiting for {address}: {error}")
            time.sleep(0.5)


def work():
    dice = random.Random(task["index"])
    peers = [connect(address) for address in cluster["ps"]]
    gradient = [0.0] * len(TRUTH)
    weights = [0.0] * len(TRUTH)
    own = 0
    while True:
        for k, peer in enumerate(peers):
            share = {str(i): gradient[i] for i in range(k, len(TRUTH), len(peers))}
            print(json.dumps(share), file=peer, flush=True)
        answers = [json.loads(peer.readline()) for peer in peers]
        if None in answers:
            break
        for answer in answers:
            for i, value in answer.items():
                weights[int(i)] = value
        gradient = [0.0] * len(TRUTH)
        for _ in range(20):
            x = [dice.uniform(-1, 1) for _ in TRUTH]
            error = sum((w - t) * v for w, t, v in zip(weights, TRUTH, x)) + dice.gauss(0, 0.1)
            for i, v in enumerate(x):
                gradient[i] += error * v / 20
        time.sleep(PAUSE)
        own += 1
    away = max(abs(w - t) for w, t in zip(weights, TRUTH))
    say(f"done: {own} of {STEPS} steps were mine; weights are at most {away:.2f} from the truth")


if task["type"] == "ps":
    Server().serve()
else:
    work()
