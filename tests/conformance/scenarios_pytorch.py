"""PyTorchJobs: the same controller as for TFJobs, with other names, messages and environment."""
import json

from cluster import expect, until
from jobs import exited, labels, owner, pod_created, pytorchjob, service_created
from scenario import scenario

PORT = 23456
VARIABLES = ["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "PET_MASTER_ADDR", "PET_MASTER_PORT",
             "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE", "TF_CONFIG"]


def environment(space, pod):
    return json.loads(space.ask(pod, "/env?" + "&".join("name=" + v for v in VARIABLES), PORT)[1])


def told(rank):
    return {"MASTER_ADDR": "torch-master-0", "MASTER_PORT": "23456", "WORLD_SIZE": "3", "RANK": str(rank),
            "PYTHONUNBUFFERED": "1", "PET_MASTER_ADDR": "torch-master-0", "PET_MASTER_PORT": "23456", "PET_NNODES": "3",
            "PET_NODE_RANK": str(rank), "PET_NPROC_PER_NODE": "auto", "TF_CONFIG": None}


@scenario(kind="PyTorchJob")
def pytorch(space):
    """A job from its creation to its end: its objects, the environment of the replicas, conditions and events."""
    job = space.create(pytorchjob("torch", space.cluster.image, 2))
    space.until_running("torch", "master-0", "worker-0", "worker-1")
    created = ("Created", "True", "PyTorchJobCreated", "PyTorchJob torch is created.")
    running = ("Running", "True", "PyTorchJobRunning", "PyTorchJob torch is running.")
    expect("conditions", [created, running], space.conditions("torch"))
    for rank, (role, index) in enumerate((("master", 0), ("worker", 0), ("worker", 1))):
        name = f"torch-{role}-{index}"
        pod, service = space.pod(name), space.get("services", name)
        own = labels("torch", role, index, controller="pytorchjob-controller")
        expect(f"{name}'s labels", labels("torch", role, index, role == "master", "pytorchjob-controller"),
               space.labels(pod, "torch"))
        expect(f"{name}'s owner", owner(job), pod["metadata"]["ownerReferences"])
        expect(f"{name}'s policy", "OnFailure", pod["spec"]["restartPolicy"])
        expect(f"{name} has no init containers", [], pod["spec"].get("initContainers", []))
        expect(f"{name}'s service's selector", own, service["spec"]["selector"])
        expect(f"{name}'s service's ports", [("pytorchjob-port", PORT)],
               [(p["name"], p["port"]) for p in service["spec"]["ports"]])
        expect(f"{name}'s environment", told(rank), environment(space, name))
    address = space.pod("torch-master-0")["status"]["podIP"]
    until("a worker to find the master by its short name",
          lambda: space.resolve("torch-worker-1", "torch-master-0", PORT) == [address])

    space.end("torch-worker-0", 0, PORT)
    until("it to be counted", lambda: space.counts("torch")["Worker"] == {"active": 1, "succeeded": 1})
    expect("a worker's end is not the job's", [created, running], space.conditions("torch"))
    space.end("torch-master-0", 0, PORT)
    space.until_true("torch", "Succeeded")
    succeeded = ("Succeeded", "True", "PyTorchJobSucceeded", "PyTorchJob torch is successfully completed.")
    expect("conditions", [created, running[:1] + ("False",) + running[2:], succeeded], space.conditions("torch"))
    space.heard("torch", pod_created("torch-worker-1"), service_created("torch-master-0"),
                exited(space, "torch-master-0", 0), ("Normal",) + succeeded[2:])


@scenario(kind="PyTorchJob")
def pytorch_restart(space):
    """A worker that fails is restarted in place by default, and replaced under ExitCode."""
    space.create(pytorchjob("again", space.cluster.image, 1))
    space.create(pytorchjob("other", space.cluster.image, 1, "ExitCode"))
    for name in ("again", "other"):
        space.until_running(name, "master-0", "worker-0")
    before = {pod: space.uid(pod) for pod in ("again-worker-0", "other-worker-0")}
    space.end("again-worker-0", 1, PORT)
    space.end("other-worker-0", 137, PORT)
    until("the restart in place", lambda: space.runs("again-worker-0") and
          space.pod("again-worker-0")["status"]["containerStatuses"][0]["restartCount"] == 1)
    until("another worker", lambda: space.uid("other-worker-0") != before["other-worker-0"])
    space.until_running("other", "worker-0")
    expect("the same pod", before["again-worker-0"], space.uid("again-worker-0"))
    space.heard("other", ("Warning", "PyTorchJobRestarting", "job other is restarting because Worker replica(s) failed."))
    for name in ("again", "other"):
        space.end(f"{name}-master-0", 0, PORT)
        space.until_true(name, "Succeeded")
