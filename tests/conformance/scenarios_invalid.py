"""Invalid jobs: the server refuses them, or the operator fails them at once. Both name the path of the field."""
import copy
import re

from cluster import Failure, Refused, expect, is_true, until
from jobs import replica, tfjob
from scenario import scenario


def containers(job):
    return job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]


def rename_key(job, key):
    specs = job["spec"]["tfReplicaSpecs"]
    specs[key] = specs.pop("Worker")


def add_role(job, role, **change):
    specs = job["spec"]["tfReplicaSpecs"]
    specs[role] = {**copy.deepcopy(specs["Worker"]), **change}


def set_worker(job, **change):
    job["spec"]["tfReplicaSpecs"]["Worker"].update(change)


def set_policy(job, **change):
    job["spec"]["runPolicy"] = change


WORKER = "spec.tfReplicaSpecs.Worker"
LONG = "a" * 57

# Name: (change of a valid job, path of the invalid field, a part of the message).
MISTAKES = {
    "name-no-label": (lambda j: j["metadata"].update(name="0-test"), "metadata.name", "DNS-1035"),
    "name-too-long": (lambda j: j["metadata"].update(name=LONG), "metadata.name", f"{LONG}-worker-0"),
    "no-replicas": (lambda j: j["spec"].update(tfReplicaSpecs={}), "spec.tfReplicaSpecs", ""),
    # A server may drop the null before it validates.
    "null-replica": (lambda j: j["spec"]["tfReplicaSpecs"].update(Worker=None), "spec.tfReplicaSpecs", ""),
    "no-containers": (lambda j: containers(j).clear(), WORKER + ".template.spec.containers", ""),
    "no-image": (lambda j: containers(j)[0].update(image=""), WORKER + ".template.spec.containers.0.image", ""),
    "no-tensorflow": (lambda j: containers(j)[0].update(name="main"), WORKER + ".template.spec.containers", "tensorflow"),
    "port": (lambda j: containers(j)[0].update(ports=[{"containerPort": 65536}]),
             WORKER + ".template.spec.containers.0.ports.0.containerPort", "65535"),
    "unknown-role": (lambda j: rename_key(j, "Wroker"), "spec.tfReplicaSpecs.Wroker", "did you mean 'Worker'?"),
    "chief-and-master": (lambda j: (add_role(j, "Chief"), add_role(j, "Master")), "spec.tfReplicaSpecs",
                         "must not have more than 1 Chief or Master role"),
    "two-chiefs": (lambda j: add_role(j, "Chief", replicas=2), "spec.tfReplicaSpecs.Chief.replicas", ""),
    "role-twice": (lambda j: add_role(j, "worker"), "spec.tfReplicaSpecs", "duplicate replica type"),
    "negative-replicas": (lambda j: set_worker(j, replicas=-1), WORKER + ".replicas", ""),
    "replicas-text": (lambda j: set_worker(j, replicas="two"), WORKER + ".replicas", ""),
    "restart-policy": (lambda j: set_worker(j, restartPolicy="Sometimes"), WORKER + ".restartPolicy", "Sometimes"),
    "clean-policy": (lambda j: set_policy(j, cleanPodPolicy="all"), "spec.runPolicy.cleanPodPolicy", "all"),
    "backoff": (lambda j: set_policy(j, backoffLimit=-1), "spec.runPolicy.backoffLimit", "-1"),
    "deadline": (lambda j: set_policy(j, activeDeadlineSeconds=True), "spec.runPolicy.activeDeadlineSeconds", ""),
    "ttl": (lambda j: set_policy(j, ttlSecondsAfterFinished=-1), "spec.runPolicy.ttlSecondsAfterFinished", "-1"),
    "suspend": (lambda j: set_policy(j, suspend="yes"), "spec.runPolicy.suspend", ""),
    "success-policy": (lambda j: j["spec"].update(successPolicy="AllWorker"), "spec.successPolicy", "AllWorker"),
}


def plain(text):
    """Paths are written in two ways: a[b].c by the operator, a.b.c by a schema."""
    return text.replace("[", ".").replace("]", "")


def without_indexes(text):
    """The schema of Kubernetes 1.20 names containers.image for the image of any container."""
    return re.sub(r"\.[0-9]+(?=\.)", "", plain(text))


def check_refusal(space, what, job, path, words):
    try:
        made = space.create(job)
    except Refused as error:
        # The messages of a schema are not ours, so only the path is compared.
        if error.code not in (400, 422) or without_indexes(path) not in without_indexes(str(error)):
            raise Failure(f"{what}: refused with {error.code}: {error}") from None
        return
    name = made["metadata"]["name"]
    until(f"{what}: {name} to be failed", lambda: is_true(space.job(name), "Failed"))
    end = space.conditions(name)[-1]
    said = end[3]
    if end[2] != "FailedValidation" or path not in plain(said) or words not in said:
        raise Failure(f"{what}: failed with {end[2]}: {said}")
    expect(f"{what}: pods", [], space.names("pods", name))
    expect(f"{what}: services", [], space.names("services", name))
    until(f"{what}: the event", lambda: [e for e in space.events(name) if e[1] == "FailedValidation"])
    expect(f"{what}: one event, and no other", [1], list(space.events(name).values()))
    space.delete("tfjobs", name)


@scenario()
def invalid_jobs(space):
    good = tfjob("wrong", {"Worker": replica(space.cluster.image)})
    for what, (spoil, path, words) in MISTAKES.items():
        job = copy.deepcopy(good)
        job["metadata"]["name"] = f"wrong-{what}"
        spoil(job)
        check_refusal(space, what, job, path, words)


@scenario()
def unknown_manager(space):
    """An unknown managedBy: the server refuses the job, or the operator reports it and leaves the job alone, because another controller
    may own it."""
    job = tfjob("whose", {"Worker": replica(space.cluster.image)}, {"managedBy": "other-job-controller"})
    try:
        space.create(job)
    except Refused as error:
        if error.code != 422 or "spec.runPolicy.managedBy" not in str(error):
            raise Failure(f"refused with {error.code}: {error}") from None
        return
    space.heard("whose", ("Warning", "FailedValidation",
                          "spec.runPolicy.managedBy: must be kubeflow.org/training-operator or "
                          'kueue.x-k8s.io/multikueue, is "other-job-controller"'))
    expect("no status", {}, space.job("whose").get("status", {}))
    expect("no pods", [], space.names("pods", "whose"))
