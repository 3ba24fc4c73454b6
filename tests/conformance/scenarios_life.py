"""The life of a job as a whole: its end and its remains, suspension, limits, scaling, and ownership."""
import datetime
import threading

from cluster import Refused, expect, is_true, until
from jobs import (created, failed_backoff, failed_deadline, owner, pod_deleted, replica, resumed, running,
                  stopped_by_suspend, succeeded, suspended, tfjob, told)
from scenario import scenario
from scenarios_restart import fence, remembered


@scenario(all=("All", [], []),
          running=("Running", ["clean-chief-0"], ["clean-chief-0"]),
          none=("None", ["clean-chief-0", "clean-ps-0", "clean-worker-0"],
                ["clean-chief-0", "clean-ps-0", "clean-worker-0"]))
def cleanpod(space, policy, pods, services):
    """What cleanPodPolicy keeps when the chief has succeeded and the others still run."""
    image = space.cluster.image
    space.create(tfjob("clean", {"Chief": replica(image), "Worker": replica(image), "PS": replica(image)},
                       {"cleanPodPolicy": policy}))
    space.until_running("clean", "chief-0", "worker-0", "ps-0")
    space.end("clean-chief-0", 0)
    space.until_true("clean", "Succeeded")
    space.until_names("pods", "clean", *pods)
    space.until_names("services", "clean", *services)
    if policy == "None":
        fence(space)
        for role in ("worker-0", "ps-0"):
            expect(f"{role} runs on", True, space.runs(f"clean-{role}"))
    until("what was active to count as succeeded",
          lambda: space.counts("clean") == {t: {"succeeded": 1} for t in ("Chief", "Worker", "PS")})


@scenario()
def shutdown_chief(space):
    """The result of the chief is the result of the job, whatever the workers do."""
    image = space.cluster.image
    space.create(tfjob("led", {"Chief": replica(image), "Worker": replica(image, 2), "PS": replica(image)}))
    space.until_running("led", "chief-0", "worker-0", "worker-1", "ps-0")
    space.end("led-worker-0", 0)
    until("worker 0 to be counted", lambda: space.counts("led")["Worker"] == {"active": 1, "succeeded": 1})
    expect("a worker's end is not the job's", [created("led"), running(space, "led")], space.conditions("led"))
    space.end("led-chief-0", 0)
    space.until_true("led", "Succeeded")
    expect("conditions", [created("led"), running(space, "led", "False"), succeeded(space, "led")], space.conditions("led"))


@scenario()
def shutdown_worker0(space):
    """Without a chief, the result of worker 0 is the result of the job."""
    image = space.cluster.image
    space.create(tfjob("flat", {"Worker": replica(image, 2), "PS": replica(image)}))
    space.until_running("flat", "worker-0", "worker-1", "ps-0")
    space.end("flat-worker-1", 0)
    until("worker 1 to be counted", lambda: space.counts("flat")["Worker"] == {"active": 1, "succeeded": 1})
    expect("another worker's end is not the job's", [created("flat"), running(space, "flat")], space.conditions("flat"))
    space.end("flat-worker-0", 0)
    space.until_true("flat", "Succeeded")


@scenario()
def success_policy_all_workers(space):
    image = space.cluster.image
    space.create(tfjob("every", {"Worker": replica(image, 2)}, successPolicy="AllWorkers"))
    space.until_running("every", "worker-0", "worker-1")
    space.end("every-worker-0", 0)
    until("worker 0 to be counted", lambda: space.counts("every")["Worker"] == {"active": 1, "succeeded": 1})
    expect("it goes on", [created("every"), running(space, "every")], space.conditions("every"))
    space.end("every-worker-1", 0)
    space.until_true("every", "Succeeded")


def set_suspend(space, name, value):
    space.patch("tfjobs", name, {"spec": {"runPolicy": {"suspend": value}}})


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@scenario()
def suspend_and_resume(space):
    """Created suspended, resumed, suspended while it runs, resumed again: conditions, start times and what exists."""
    image = space.cluster.image
    space.create(tfjob("paused", {"Worker": replica(image, 2), "PS": replica(image)}, {"suspend": True}))
    pods = ["paused-ps-0", "paused-worker-0", "paused-worker-1"]
    space.until_true("paused", "Suspended")
    expect("conditions", [created("paused"), suspended("paused")], space.conditions("paused"))
    expect("no start time", None, space.job("paused")["status"].get("startTime"))
    expect("no pods", [], space.names("pods", "paused"))
    expect("no services", [], space.names("services", "paused"))

    set_suspend(space, "paused", False)
    space.until_running("paused", "worker-0", "worker-1", "ps-0")
    expect("conditions", [created("paused"), resumed("paused"), running(space, "paused")], space.conditions("paused"))
    start = space.job("paused")["status"]["startTime"]
    until("all to be counted", lambda: space.counts("paused") == {"PS": {"active": 1}, "Worker": {"active": 2}})

    set_suspend(space, "paused", True)
    space.until_true("paused", "Suspended")
    expect("conditions", [created("paused"), stopped_by_suspend("paused"), suspended("paused")],
           space.conditions("paused"))
    space.until_names("pods", "paused")
    space.until_names("services", "paused")
    status = space.job("paused")["status"]
    expect("the start time is kept", start, status["startTime"])
    until("nothing to be active", lambda: space.counts("paused") == {"PS": {}, "Worker": {}})
    expect("no completion", None, status.get("completionTime"))
    space.heard("paused", told(suspended("paused")), *(pod_deleted(p) for p in pods))

    # Times are written in whole seconds. Wait, so that the next start time differs from this one.
    until("the next second", lambda: now() > moment(start) + datetime.timedelta(seconds=1))
    set_suspend(space, "paused", False)
    space.until_running("paused", "worker-0", "worker-1", "ps-0")
    expect("conditions", [created("paused"), resumed("paused"), running(space, "paused")], space.conditions("paused"))
    expect("the start time is another", True, moment(space.job("paused")["status"]["startTime"]) > moment(start))
    space.heard("paused", told(resumed("paused")))
    space.end("paused-worker-0", 0)
    space.until_true("paused", "Succeeded")


@scenario()
def managed_elsewhere(space):
    """A job of another controller: the operator writes nothing to it and creates no objects for it."""
    image = space.cluster.image
    job = tfjob("away", {"Worker": replica(image)}, {"managedBy": "kueue.x-k8s.io/multikueue"})
    away = space.create(job)
    space.create(tfjob("ours", {"Worker": replica(image)}, {"managedBy": "kubeflow.org/training-operator"}))
    space.until_true("ours", "Running")
    fence(space)
    expect("no status", {}, space.job("away").get("status", {}))
    expect("not written", away["metadata"]["resourceVersion"], space.job("away")["metadata"]["resourceVersion"])
    expect("no pods", [], space.names("pods", "away"))
    expect("no services", [], space.names("services", "away"))
    expect("no events", {}, space.events("away"))


@scenario(worker=("Worker", "worker"), ps=("PS", "ps"))
def scale(space, role, lower):
    """Scaling up creates replicas, scaling down deletes them. The other replicas stay, and the job continues."""
    image = space.cluster.image
    specs = {"Worker": replica(image), "PS": replica(image)}
    specs[role]["replicas"] = 2
    space.create(tfjob("wide", specs))
    first = ["wide-ps-0", "wide-worker-0", f"wide-{lower}-1"]
    space.until_names("pods", "wide", *first)
    space.until_running("wide", "worker-0", "ps-0", f"{lower}-1")
    before = {pod: space.uid(pod) for pod in first}

    space.patch("tfjobs", "wide", {"spec": {"tfReplicaSpecs": {role: {"replicas": 4}}}})
    space.until_names("pods", "wide", *first, f"wide-{lower}-2", f"wide-{lower}-3")
    space.until_names("services", "wide", *first, f"wide-{lower}-2", f"wide-{lower}-3")
    space.until_running("wide", f"{lower}-2", f"{lower}-3")
    expect("the old ones stay", before, {pod: space.uid(pod) for pod in first})

    space.patch("tfjobs", "wide", {"spec": {"tfReplicaSpecs": {role: {"replicas": 1}}}})
    space.until_names("pods", "wide", "wide-ps-0", "wide-worker-0")
    space.until_names("services", "wide", "wide-ps-0", "wide-worker-0")
    until("the counts to follow", lambda: space.counts("wide") == {"PS": {"active": 1}, "Worker": {"active": 1}})
    expect("it goes on", [created("wide"), running(space, "wide")], space.conditions("wide"))
    expect("nothing counts as a restart", {}, remembered(space, "wide"))
    space.end("wide-worker-0", 0)
    space.until_true("wide", "Succeeded")


@scenario()
def ttl(space):
    """A finished job is deleted after its TTL, with all its objects."""
    space.create(tfjob("short", {"Worker": replica(space.cluster.image, args=["--exit", "0"])},
                       {"ttlSecondsAfterFinished": 1}))
    space.create(tfjob("long", {"Worker": replica(space.cluster.image, args=["--exit", "0"])},
                       {"ttlSecondsAfterFinished": 3600}))
    until("the job to go", lambda: space.gone("tfjobs", "short"))
    space.until_names("pods", "short")
    space.until_names("services", "short")
    space.until_true("long", "Succeeded")
    space.heard("short", ("Normal", "SuccessfulDeleteJob", "Deleted job: short"))
    expect("the other stays", ["long-worker-0"], space.names("pods", "long"))


@scenario()
def active_deadline_idle(space):
    """The deadline of a job in which nothing happens. Under cleanPodPolicy None running pods are stopped and finished ones are kept."""
    image = space.cluster.image
    space.create(tfjob("late", {"Chief": replica(image), "Worker": replica(image, args=["--exit", "0"])},
                       {"cleanPodPolicy": "None"}))
    space.until_running("late", "chief-0")
    space.until_phase("late-worker-0", "Succeeded")
    until("both to be counted", lambda: space.counts("late") == {"Chief": {"active": 1}, "Worker": {"succeeded": 1}})
    # From here on nothing happens until the deadline.
    active = (now() - moment(space.job("late")["status"]["startTime"])).total_seconds()
    space.patch("tfjobs", "late", {"spec": {"runPolicy": {"activeDeadlineSeconds": int(active) + 3}}})
    space.until_true("late", "Failed")
    expect("conditions", [created("late"), running(space, "late", "False"), failed_deadline("late")],
           space.conditions("late"))
    space.until_names("pods", "late", "late-worker-0")
    expect("the finished pod is kept", "Succeeded", space.pod("late-worker-0")["status"]["phase"])
    space.heard("late", told(failed_deadline("late")), pod_deleted("late-chief-0"))
    until("nothing to be active", lambda: space.counts("late") == {"Chief": {}, "Worker": {"succeeded": 1}})


@scenario()
def same_name_again(space):
    """A job created under the name of a deleted one starts at once, with its own pods."""
    image = space.cluster.image
    job = tfjob("twin", {"Worker": replica(image, 2)})
    space.create(job)
    space.until_running("twin", "worker-0", "worker-1")
    before = space.uid("twin-worker-0")
    space.delete("tfjobs", "twin")

    def create():
        try:
            return space.create(job)
        except Refused as error:
            if error.reason == "AlreadyExists":
                return None
            raise
    again = until("the name to be free", create)
    # The new job may run while a pod of the old one still exists.
    until("another pod", lambda: space.uid("twin-worker-0") != before)
    space.until_running("twin", "worker-0", "worker-1")
    pod = space.pod("twin-worker-0")
    expect("the new job's", again["metadata"]["uid"], pod["metadata"]["ownerReferences"][0]["uid"])


@scenario()
def left_behind(space):
    """A job deleted without its pods and created again continues with them: no pod is started twice."""
    image = space.cluster.image
    job = tfjob("kept", {"Worker": replica(image, 2), "PS": replica(image)}, successPolicy="AllWorkers")
    pods = ["kept-ps-0", "kept-worker-0", "kept-worker-1"]
    space.create(job)
    space.until_running("kept", "ps-0", "worker-0", "worker-1")
    space.end("kept-worker-1", 0)
    until("the end to be counted", lambda: space.counts("kept")["Worker"] == {"active": 1, "succeeded": 1})
    before = {pod: space.uid(pod) for pod in pods}
    space.delete("tfjobs", "kept", "Orphan")
    until("the job to go", lambda: space.gone("tfjobs", "kept"))
    for pod in pods:
        until("the pod to have no owner", lambda p=pod: not space.pod(p)["metadata"].get("ownerReferences"))
    again = space.create(job)
    space.until_true("kept", "Running")
    for resource in ("pods", "services"):
        for name in pods:
            until("the new job to own it",
                  lambda r=resource, n=name: space.get(r, n)["metadata"].get("ownerReferences") == owner(again))
    until("all to be counted",
          lambda: space.counts("kept") == {"PS": {"active": 1}, "Worker": {"active": 1, "succeeded": 1}})
    expect("the same pods", before, {pod: space.uid(pod) for pod in pods})
    space.heard("kept", ("Normal", "SuccessfulAdoptPod", "Adopted pod: kept-worker-1"))
    space.end("kept-worker-0", 0)
    space.until_true("kept", "Succeeded")


@scenario(other=("job-name", "somebody"), none=("job-name", None), unseen=("operator-name", None))
def taken_out(space, label, value):
    """A pod whose labels are changed is released: it keeps running, is not counted as failed, and its replacement waits for the name."""
    image = space.cluster.image
    space.create(tfjob("open", {"Worker": replica(image, 2)}))
    space.until_running("open", "worker-0", "worker-1")
    before = space.uid("open-worker-1")
    space.patch("pods", "open-worker-1", {"metadata": {"labels": {"training.kubeflow.org/" + label: value}}})
    until("it to have no owner", lambda: not space.pod("open-worker-1")["metadata"].get("ownerReferences"))
    until("it not to count", lambda: space.counts("open") == {"Worker": {"active": 1}})
    space.heard("open", ("Normal", "SuccessfulReleasePod", "Released pod: open-worker-1"),
                ("Warning", "FailedCreatePod", 'Error creating: pod "open-worker-1" exists and does not belong to this job; '
                                               "delete it, or give the job another name"))
    expect("it runs on", (before, True), (space.uid("open-worker-1"), space.runs("open-worker-1")))
    expect("the job continues, too", [created("open"), running(space, "open")], space.conditions("open"))
    space.delete("pods", "open-worker-1")
    until("another pod", lambda: not space.gone("pods", "open-worker-1") and space.uid("open-worker-1") != before)
    space.until_running("open", "worker-1")
    expect("nothing counts as a restart", {}, remembered(space, "open"))


@scenario()
def scale_to_nothing(space):
    """A job scaled to 0 does not succeed: it is not Running, and its conditions say what it waits for, until it is scaled up."""
    space.create(tfjob("none", {"Worker": replica(space.cluster.image)}))
    space.until_running("none", "worker-0")
    space.until_true("none", "Running")
    space.patch("tfjobs", "none", {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 0}}}})
    space.until_names("pods", "none")
    words = ("TFJobWaiting", "TFJob none has 0 replicas of Worker, which decide whether the job succeeds: the job waits; set "
                             "spec.tfReplicaSpecs.Worker.replicas to 1 or more, or delete the job")
    until("it to wait", lambda: space.conditions("none") == [("Running", "False", *words), ("Created", "True", *words)])
    space.heard("none", ("Warning", "NoDecidingReplica", words[1]))
    space.patch("tfjobs", "none", {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1}}}})
    space.until_running("none", "worker-0")
    until("it to run", lambda: space.conditions("none") == [created("none"), running(space, "none")])


@scenario(ps=("PS", "ps"), evaluator=("Evaluator", "evaluator"))
def nobody_decides(space, role, lower):
    """A job with only parameter servers or evaluators runs, and an event says that no replica can make it succeed."""
    space.create(tfjob("alone", {role: replica(space.cluster.image)}))
    space.until_phase(f"alone-{lower}-0", "Running")
    space.heard("alone", ("Warning", "NoDecidingReplica",
                          "TFJob alone has neither a Chief, a Master nor a Worker: it never becomes Running or Succeeded, "
                          "and ends when a replica fails, a limit is reached or it is deleted"))
    space.end(f"alone-{lower}-0", 0)
    until("the end to be counted", lambda: space.counts("alone") == {role: {"succeeded": 1}})
    fence(space)
    expect("it stays", [created("alone")], space.conditions("alone"))


@scenario()
def conflicts(space):
    """Another client writes to the job all the time: no write of the operator is lost, and none is made twice."""
    image = space.cluster.image
    space.create(tfjob("busy", {"Worker": replica(image, 2, policy="ExitCode")}, {"backoffLimit": 3},
                       successPolicy="AllWorkers"))
    stop = threading.Event()

    def write():
        count = 0
        while not stop.is_set():
            count += 1
            space.patch("tfjobs", "busy", {"metadata": {"annotations": {"count": str(count)}}})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(2):
            space.until_running("busy", "worker-0", "worker-1")
            before = space.uid("busy-worker-1")
            space.end("busy-worker-1", 137)
            until("another worker 1", lambda: space.uid("busy-worker-1") != before)
        space.until_running("busy", "worker-0", "worker-1")
        expect("each restart is counted once", {"worker-1": 2}, remembered(space, "busy"))
        space.end("busy-worker-0", 0)
        space.end("busy-worker-1", 0)
        space.until_true("busy", "Succeeded")
    finally:
        stop.set()
        writer.join()
    expect("pods made", {0: 1, 1: 3}, {i: space.made(f"busy-worker-{i}") for i in (0, 1)})


@scenario(alone=True)
def operator_restart(space):
    """The operator is killed in the middle: the pods keep running, and the counted restarts still count."""
    image = space.cluster.image
    space.create(tfjob("job", {"Worker": replica(image, 2, policy="ExitCode")}, {"backoffLimit": 1},
                       successPolicy="AllWorkers"))
    space.create(tfjob("plain", {"Worker": replica(image, 2), "PS": replica(image)}))
    space.until_running("job", "worker-0", "worker-1")
    space.until_running("plain", "worker-0", "worker-1", "ps-0")
    first = space.uid("job-worker-0")
    space.end("job-worker-0", 137)
    until("another worker 0", lambda: space.uid("job-worker-0") != first)
    space.until_running("job", "worker-0")
    pods = ["job-worker-0", "job-worker-1", "plain-worker-0", "plain-worker-1", "plain-ps-0"]
    before = {pod: space.uid(pod) for pod in pods}

    space.cluster.restart_operator()
    until("the API", lambda: space.job("job"))
    fence(space)
    expect("the pods are the same", before, {pod: space.uid(pod) for pod in pods})
    for name in ("job", "plain"):
        expect(f"{name}'s conditions", [created(name), running(space, name)], space.conditions(name))
    expect("what was counted", {"worker-0": 1}, remembered(space, "job"))

    # One job ends soon after the operator's restart. The other has one restart more than allowed.
    space.end("plain-worker-0", 0)
    space.end("job-worker-1", 137)
    space.until_true("plain", "Succeeded")
    space.until_true("job", "Failed")
    expect("how it failed", failed_backoff("job"), space.conditions("job")[-1])
    expect("no pod was made twice", 1, space.made("plain-worker-0"))
    expect("one end", False, is_true(space.job("job"), "Succeeded"))
