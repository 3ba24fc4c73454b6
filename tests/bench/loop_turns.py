#!/usr/bin/python3
"""How long the turns (iterations) of the API server's event loop take under three loads, and what another client notices of them:
meanwhile a separate process requests /readyz every 10 ms. Prints one line of JSON per load.

    loop_turns.py TRAINYARD [PODS [KEYS]]

Each pod runs `true` in its own sandbox and ends. Then the namespace of the pods is deleted. The figures of the turns come from the server's
/metrics. If the longest turn since the server's start came before the load, the upper bound of the load's slowest bucket is printed.
"""
import http.client
import json
import multiprocessing
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = os.path.abspath(sys.argv[1])
PODS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
KEYS = int(sys.argv[3]) if len(sys.argv) > 3 else 200000
CLIENTS = 8
TIMEOUT_S = 120
CPU = "trainyard_loop_turn_cpu"
BAR_S = 0.02


class Api:
    """One connection to the API server."""

    def __init__(self, state):
        with open(os.path.join(state, "token"), encoding="ascii") as file:
            self.headers = {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}
        with open(os.path.join(state, "kubeconfig"), encoding="ascii") as file:
            port = int(re.search(r"server: \S+:(\d+)", file.read()).group(1))
        context = ssl._create_unverified_context()  # pylint: disable=protected-access
        self.line = http.client.HTTPSConnection("127.0.0.1", port, timeout=TIMEOUT_S, context=context)

    def ask(self, method, path, body=None):
        self.line.request(method, path, body, self.headers)
        answer = self.line.getresponse()
        return answer.status, answer.read()

    def get(self, path):
        status, body = self.ask("GET", path)
        return json.loads(body) if status == 200 else None


def turns(api):
    """The histogram of CPU time per turn: upper bound → turns up to it, and the longest turn."""
    text = api.ask("GET", "/metrics")[1].decode()
    buckets = {float(bound): int(count)
               for bound, count in re.findall(CPU + r'_seconds_bucket\{le="([^"]*)"\} (\d+)', text)}
    return buckets, float(re.search("^" + CPU + r"_longest_seconds (\d\S*)$", text, re.MULTILINE).group(1))


def probe(state, begun, end, results):
    """Request /readyz every 10 ms, and return the milliseconds of each answer."""
    api, waits = Api(state), []
    api.ask("GET", "/readyz")
    begun.set()
    while not end.is_set():
        start = time.monotonic()
        api.ask("GET", "/readyz")
        waits.append((time.monotonic() - start) * 1e3)
        time.sleep(0.01)
    results.put(waits)


def measure(name, state, load):
    api, results = Api(state), multiprocessing.Queue()
    begun, end = multiprocessing.Event(), multiprocessing.Event()
    prober = multiprocessing.Process(target=probe, args=(state, begun, end, results))
    prober.start()
    begun.wait()
    before, longest_before = turns(api)
    start = time.monotonic()
    load(api)
    took = time.monotonic() - start
    end.set()
    waits = sorted(results.get())
    prober.join()
    after, longest = turns(api)
    if longest <= longest_before:  # it came before this load: its slowest bucket bounds the load's longest turn
        bounds, below = sorted(after), 0
        for bound in bounds:
            count = after[bound] - before[bound]
            longest = bound if count > below else longest
            below = max(below, count)
    over = (after[float("inf")] - after[BAR_S]) - (before[float("inf")] - before[BAR_S])
    print(json.dumps({"load": name, "longest_ms": round(longest * 1e3, 2), "over_bar": over,
                      "turns": after[float("inf")] - before[float("inf")], "took_s": round(took, 2),
                      "probes": len(waits), "probe_p99_ms": round(waits[int(len(waits) * 0.99)], 2),
                      "probe_max_ms": round(waits[-1], 2)}), flush=True)


def wait(what, condition):
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {TIMEOUT_S} s")
        time.sleep(0.2)


def create_pods(state):
    def create(first):
        api = Api(state)
        for number in range(first, PODS, CLIENTS):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": {
                "restartPolicy": "Never", "automountServiceAccountToken": False,
                "containers": [{"name": "main", "image": "trainyard/tools", "command": ["true"]}]}}
            status, text = api.ask("POST", "/api/v1/namespaces/load/pods", json.dumps(pod))
            if status != 201:
                sys.exit(f"pod-{number}: {text}")

    def load(api):
        api.ask("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": "load"}}))
        clients = [threading.Thread(target=create, args=(first,)) for first in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        # One object is enough, because a list of all pods would be a load itself.
        wait("pods", lambda: not api.get("/api/v1/namespaces/load/pods?limit=1&fieldSelector=status.phase!=Succeeded")
             ["items"])

    return load


def delete_pods(state):
    def load(api):
        api.ask("DELETE", "/api/v1/namespaces/load")
        wait("namespace", lambda: api.ask("GET", "/api/v1/namespaces/load")[0] == 404)
        wait("directories", lambda: not os.listdir(os.path.join(state, "pods")))

    return load


def write_keys(state):
    def load(api):
        data = {f"key{number}": "" for number in range(KEYS)}
        body = json.dumps({"metadata": {"name": "large"}, "data": data}, separators=(",", ":"))
        path = "/api/v1/namespaces/default/configmaps"
        # The server's controllers and nodes watch ConfigMaps, too. This watch is the newest one, so its event comes after theirs.
        watch = Api(state)
        watch.line.request("GET", path + "?watch=1&fieldSelector=metadata.name=large", None, watch.headers)
        events = watch.line.getresponse()
        status, text = api.ask("POST", path, body)
        if status != 201:
            sys.exit(f"the ConfigMap was refused: {text[:300]}")
        if not events.readline().endswith(b"\n"):
            sys.exit("the watch ended before it delivered the ConfigMap")

    return load


def main():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as state:
        subprocess.run([PROGRAM, "up", "--state", state, "--port", "0", "--nodes", "10"], check=True,
                       stdout=subprocess.DEVNULL)
        try:
            measure(f"{PODS} pods created", state, create_pods(state))
            measure(f"{PODS} pods deleted", state, delete_pods(state))
            measure(f"{KEYS} keys written", state, write_keys(state))
        finally:
            subprocess.run([PROGRAM, "down", "--state", state], check=True, stdout=subprocess.DEVNULL)


main()
