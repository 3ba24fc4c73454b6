"""The objects that the operator creates for a job, and the environment of the replicas."""
import json

from cluster import expect, until
from jobs import (created, exited, labels, owner, pod_created, replica, running, service_created, succeeded, tfjob, told)
from scenario import scenario

SERVICE_PORT = [{"name": "tfjob-port", "port": 2222, "protocol": "TCP", "targetPort": 2222}]


def hosts(space, job, role, count):
    return [f"{job}-{role}-{i}.{space.name}.svc:2222" for i in range(count)]


def tf_config(cluster, role, index):
    return json.dumps({"cluster": cluster, "task": {"type": role, "index": index}, "environment": "cloud"},
                      separators=(",", ":"))


@scenario()
def simple_job(space):
    """One worker, from its creation to its end: every object, condition and event."""
    job = space.create(tfjob("simple", {"Worker": replica(space.cluster.image)}))
    space.until_running("simple", "worker-0")
    expect("conditions", [created("simple"), running(space, "simple")], space.conditions("simple"))
    expect("counts", {"Worker": {"active": 1}}, space.counts("simple"))
    pod = space.pod("simple-worker-0")
    expect("labels", labels("simple", "worker", 0, master=True), space.labels(pod, "simple"))
    expect("owner", owner(job), pod["metadata"]["ownerReferences"])
    expect("restart policy", "Never", pod["spec"]["restartPolicy"])
    expect("ports", [("tfjob-port", 2222)],
           [(p["name"], p["containerPort"]) for p in pod["spec"]["containers"][0]["ports"]])
    expect("a job of one replica has no TF_CONFIG", 404, space.ask("simple-worker-0", "/tfconfig")[0])
    expect("it is its own chief",
           {"task_type": "worker", "task_id": 0, "cluster_spec": {}, "is_chief": True, "master": "",
            "num_worker_replicas": 1, "num_ps_replicas": 0},
           json.loads(space.ask("simple-worker-0", "/runconfig")[1]))
    space.end("simple-worker-0", 0)
    space.until_true("simple", "Succeeded")
    expect("conditions", [created("simple"), running(space, "simple", "False"), succeeded(space, "simple")],
           space.conditions("simple"))
    status = space.job("simple")["status"]
    expect("counts", {"Worker": {"succeeded": 1}}, space.counts("simple"))
    expect("start before completion", True,
           job["metadata"]["creationTimestamp"] <= status["startTime"] <= status["completionTime"])
    events = {service_created("simple-worker-0"): 1, pod_created("simple-worker-0"): 1,
              exited(space, "simple-worker-0", 0): 1, told(succeeded(space, "simple")): 1}
    gang = {("Normal", "SuccessfulCreatePodGroup", "Created PodGroup: simple"), # only if the operator creates PodGroups
            ("Normal", "JobTerminated", "Job has been terminated. Deleting PodGroup"),
            ("Normal", "SuccessfulDeletePodGroup", "Deleted PodGroup: simple")}
    until("all the events, and no others",
          lambda: {e: n for e, n in space.events("simple").items() if e not in gang} == events)
    space.delete("tfjobs", "simple")
    space.until_names("pods", "simple")
    space.until_names("services", "simple")


@scenario()
def independent_workers(space):
    """Workers that find each other by name, and end independently."""
    image = space.cluster.image
    space.create(tfjob("team", {"Worker": replica(image, 3), "PS": replica(image, 1)}, successPolicy="AllWorkers"))
    pods = ["worker-0", "worker-1", "worker-2", "ps-0"]
    space.until_running("team", *pods)
    for asked in pods:
        address = space.pod(f"team-{asked}")["status"]["podIP"]
        until(f"{asked} to be found by its name", lambda a=asked, ip=address:
              space.resolve("team-worker-2", f"team-{a}.{space.name}.svc") == [ip])
    for index in range(3):
        space.end(f"team-worker-{index}", 0)
    space.until_true("team", "Succeeded")
    expect("counts", {"PS": {"succeeded": 1}, "Worker": {"succeeded": 3}}, settled_counts(space, "team"))
    expect("the parameter server runs on", True, space.runs("team-ps-0"))


def settled_counts(space, name):
    """The counts, when no replica is active: after the end, active replicas count as succeeded one write later."""
    until("counts without active ones",
          lambda: not any("active" in c for c in space.counts(name).values()))
    return space.counts(name)


@scenario()
def pod_names(space):
    """Names, labels, owners, services and environment of every role, with ports and containers that the user added."""
    image = space.cluster.image
    worker = replica(image, 2)
    template = worker["template"]
    template["metadata"] = {"labels": {"mine": "1", "training.kubeflow.org/job-name": "forged"},
                            "annotations": {"note": "kept"}}
    template["spec"]["containers"][0]["ports"] = [{"name": "metrics", "containerPort": 9100}]
    template["spec"]["containers"][0]["env"] = [{"name": "MINE", "value": "1"}]
    template["spec"]["containers"].insert(0, {"name": "sidecar", "image": image, "imagePullPolicy": "IfNotPresent",
                                              "args": ["--port", "2300"]})
    job = space.create(tfjob("named", {"Chief": replica(image), "Worker": worker, "PS": replica(image),
                                       "Evaluator": replica(image)}))
    names = {"named-chief-0": ("chief", 0), "named-evaluator-0": ("evaluator", 0), "named-ps-0": ("ps", 0),
             "named-worker-0": ("worker", 0), "named-worker-1": ("worker", 1)}
    space.until_names("pods", "named", *names)
    space.until_names("services", "named", *names)
    for name, (role, index) in names.items():
        mine = {"mine": "1"} if role == "worker" else {}
        pod, service = space.pod(name), space.get("services", name)
        expect(f"{name}'s labels", {**labels("named", role, index, master=role == "chief"), **mine},
               space.labels(pod, "named"))
        expect(f"{name}'s owner", owner(job), pod["metadata"]["ownerReferences"])
        expect(f"{name}'s service's labels", labels("named", role, index), service["metadata"]["labels"])
        expect(f"{name}'s service's owner", owner(job), service["metadata"]["ownerReferences"])
        expect(f"{name}'s service's selector", labels("named", role, index), service["spec"]["selector"])
        expect(f"{name}'s service is headless", "None", service["spec"]["clusterIP"])
        expect(f"{name}'s name resolves before it is ready", True, service["spec"]["publishNotReadyAddresses"])
        metrics = [{"name": "metrics", "port": 9100, "protocol": "TCP", "targetPort": 9100}] if mine else []
        expect(f"{name}'s service's ports", metrics + SERVICE_PORT, service["spec"]["ports"])
    pod = space.pod("named-worker-1")
    expect("annotations", "kept", pod["metadata"]["annotations"]["note"])
    sidecar, program = pod["spec"]["containers"]
    expect("the sidecar has no TF_CONFIG", [], sidecar.get("env", []))
    expect("TF_CONFIG is the last variable", ["MINE", "TF_CONFIG"], [e["name"] for e in program["env"]])


@scenario()
def runconfig(space):
    """The TF_CONFIG of each role byte for byte, and how a program reads it."""
    image = space.cluster.image
    space.create(tfjob("roles", {"Chief": replica(image), "Worker": replica(image, 2), "PS": replica(image, 2),
                                 "Evaluator": replica(image)}))
    space.until_running("roles", "chief-0", "worker-0", "worker-1", "ps-0", "ps-1", "evaluator-0")
    sizes = {"chief": 1, "evaluator": 1, "ps": 2, "worker": 2}
    cluster = {role: hosts(space, "roles", role, count) for role, count in sizes.items()}
    for role, index in (("chief", 0), ("worker", 0), ("worker", 1), ("ps", 1), ("evaluator", 0)):
        pod = f"roles-{role}-{index}"
        expect(f"{pod}'s TF_CONFIG", (200, tf_config(cluster, role, index)), space.ask(pod, "/tfconfig"))
        beside = role == "evaluator" # not part of the cluster
        expect(f"{pod}'s run configuration",
               {"task_type": role, "task_id": index, "cluster_spec": {} if beside else cluster,
                "is_chief": role == "chief", "master": "" if beside else f"grpc://{cluster[role][index]}",
                "num_worker_replicas": 0 if beside else 3, "num_ps_replicas": 0 if beside else 2},
               json.loads(space.ask(pod, "/runconfig")[1]))


@scenario()
def evaluator_left_out(space):
    """With an annotation, TF_CONFIG leaves the evaluators out, as TensorFlow 2 requires."""
    image = space.cluster.image
    space.create(tfjob("apart", {"Worker": replica(image), "Evaluator": replica(image)},
                       annotations={"trainyard.dev/tf-config-evaluator": "false"}))
    cluster = {"worker": hosts(space, "apart", "worker", 1)}
    for role in ("worker", "evaluator"):
        expect(f"the {role}'s TF_CONFIG", (200, tf_config(cluster, role, 0)), space.ask(f"apart-{role}-0", "/tfconfig"))


@scenario()
def dynamic_workers(space):
    """enableDynamicWorker: a sparse TF_CONFIG, and workers that join and leave."""
    image = space.cluster.image
    space.create(tfjob("sparse", {"Worker": replica(image, 2), "PS": replica(image)}, enableDynamicWorker=True))
    space.until_running("sparse", "worker-0", "worker-1", "ps-0")
    own = {"1": f"sparse-worker-1.{space.name}.svc:2222"}
    expect("a worker knows itself and the parameter servers",
           {"cluster": {"worker": own, "ps": hosts(space, "sparse", "ps", 1)}, "task": {"type": "worker", "index": 1}},
           json.loads(space.ask("sparse-worker-1", "/tfconfig")[1]))
    expect("a parameter server knows itself",
           {"cluster": {"worker": {}, "ps": hosts(space, "sparse", "ps", 1)}, "task": {"type": "ps", "index": 0}},
           json.loads(space.ask("sparse-ps-0", "/tfconfig")[1]))
    space.end("sparse-worker-1", 1)
    space.until_phase("sparse-worker-1", "Failed")
    until("the failure to be counted", lambda: space.counts("sparse")["Worker"].get("failed") == 1)
    expect("a dynamic worker's failure is not the job's", [created("sparse"), running(space, "sparse")],
           space.conditions("sparse"))
    space.end("sparse-worker-0", 0)
    space.until_true("sparse", "Succeeded")


def host_ports(space, name):
    return json.loads(space.job(name)["metadata"].get("annotations", {}).get("trainyard.dev/host-ports", "{}"))


@scenario()
def host_network(space):
    """Replicas with hostNetwork listen side by side, each on its own port, and find each other by name."""
    image = space.cluster.image
    space.create(tfjob("host", {"Worker": replica(image, 2, hostNetwork=True)}, successPolicy="AllWorkers"))
    pods = ["host-worker-0", "host-worker-1"]
    space.until_running("host", "worker-0", "worker-1")
    ports = host_ports(space, "host")["worker"]
    expect("two ports", 2, len(set(ports)))
    told = tf_config({"worker": [f"{p}.{space.name}.svc:{n}" for p, n in zip(pods, ports)]}, "worker", 1)
    expect("TF_CONFIG", (200, told), space.ask(pods[1], "/tfconfig", ports[1]))
    for pod, port in zip(pods, ports):
        spec = space.pod(pod)["spec"]
        expect(f"{pod}'s port", [("tfjob-port", port, port)],
               [(p["name"], p["containerPort"], p["hostPort"]) for p in spec["containers"][0]["ports"]])
        expect(f"{pod}'s resolver", "ClusterFirstWithHostNet", spec["dnsPolicy"])
        expect(f"{pod}'s service's port", [port], [p["port"] for p in space.get("services", pod)["spec"]["ports"]])
        address = space.pod(pod)["status"]["podIP"]
        until(f"{pod} to be found by its name", lambda a=address, p=pod:
              space.resolve(pods[0], f"{p}.{space.name}.svc", ports[0]) == [a])
    for pod, port in zip(pods, ports):
        space.end(pod, 0, port)
    space.until_true("host", "Succeeded")
    until("the ports to be released", lambda: host_ports(space, "host") == {})
