#!/usr/bin/python3
"""All-reduce of 25 MiB by the two workers of a TFJob, each in a pod with its own address. The workers share memory through
/run/trainyard/peers; with "tcp" they exchange the data over TCP instead.

    allreduce_pods.py KUBECTL shared|tcp        (KUBECONFIG says which cluster)
"""
import json
import re
import subprocess
import sys

KUBECTL, WAY = sys.argv[1:]
NAME = f"sum-{WAY}"
SIZE = "25"


def kubectl(*arguments, **options):
    return subprocess.run([KUBECTL, *arguments], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def job():
    container = {"name": "tensorflow", "image": "trainyard/trainer",
                 "args": ["bench", "allreduce", f"--sizes={SIZE}MiB", "--transport=" + ("tcp" if WAY == "tcp" else "auto")]}
    worker = {"replicas": 2, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": NAME},
            "spec": {"successPolicy": "AllWorkers", "tfReplicaSpecs": {"Worker": worker}}}


def chosen(table):
    """The transport that training would choose, and its GB/s: the cell with a star in the row "25 MiB  TIME RATE  TIME RATE*"."""
    names = next(line.split() for line in table.splitlines() if line.startswith("      "))
    row = next(line for line in table.splitlines() if re.match(rf" *{SIZE} MiB ", line))
    cells = re.findall(r"([\d.-]+) +([\d.-]+)(\*?)", row.split("MiB")[1])
    return next((name, float(rate)) for name, (_, rate, star) in zip(names, cells) if star)


kubectl("apply", "-f", "-", input=json.dumps(job()))
try:
    kubectl("wait", "--for=condition=Succeeded", "--timeout=120s", f"tfjob/{NAME}")
    log = kubectl("logs", f"{NAME}-worker-0")
    how, figure = chosen(log)
    if (how == "shared") != (WAY == "shared"):
        sys.exit(f"the pods chose the transport '{how}', but this bench measures '{WAY}': {log}")
    print(json.dumps({"name": f"allreduce {SIZE} MiB in two pods, {WAY}", "value": figure, "unit": "GB/s"}))
finally:
    kubectl("delete", "tfjob", NAME)
