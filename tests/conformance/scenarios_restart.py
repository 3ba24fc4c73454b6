"""How replicas end, and which of them are restarted."""
import json
import threading

from cluster import Failure, expect, is_true, until
from jobs import (created, exited, failed_backoff, failed_permanently, failed_replicas, pod_deleted, replica,
                  restarting, running, succeeded, tfjob, told)
from scenario import scenario

RESTARTS = "trainyard.dev/restarts"


def container(pod):
    return pod["status"]["containerStatuses"][0]


def remembered(space, job):
    """The restarts counted in the job's annotation: replica → count. For a pod that scaling removed, the annotation holds only the start
    of its uid, which counts as none."""
    text = space.job(job)["metadata"].get("annotations", {}).get(RESTARTS, "{}")
    entries = {name: entry for name, entry in json.loads(text).items() if isinstance(entry, dict)}
    return {name: entry["count"] for name, entry in entries.items() if entry["count"] > 0}


def start_with_ps(space, policy):
    """A job whose worker keeps running and whose parameter server the caller will end. Returns the parameter server's first pod."""
    image = space.cluster.image
    space.create(tfjob("job", {"Worker": replica(image), "PS": replica(image, policy=policy)}))
    space.until_running("job", "worker-0", "ps-0")
    return space.pod("job-ps-0")


def end_well(space, *conditions):
    expect("it goes on", [created("job"), *conditions, running(space, "job")], space.conditions("job"))
    space.end("job-worker-0", 0)
    space.until_true("job", "Succeeded")


def restarted_once(space):
    """The pod, when it runs again and its status shows how it ended. A kubelet may count the restart before it reports the end."""
    pod = space.pod("job-ps-0")
    status = container(pod)
    is_back = status["restartCount"] == 1 and "terminated" in status["lastState"] and "running" in status["state"]
    return is_back and space.runs("job-ps-0") and pod


@scenario(always_exit_code_0=("Always", 0), always_exit_code_1=("Always", 1), onfailure_exit_code_1=("OnFailure", 1))
def restart(space, policy, code):
    """Restarted in place by the node: the same pod, one more restart, and the conditions of the job do not change."""
    before = start_with_ps(space, policy)
    expect("the pod's policy", policy, before["spec"]["restartPolicy"])
    space.end("job-ps-0", code)
    after = until("the restart", lambda: restarted_once(space))
    expect("the same pod", before["metadata"]["uid"], after["metadata"]["uid"])
    expect("it started later", True, container(before)["state"]["running"]["startedAt"] <=
           container(after)["state"]["running"]["startedAt"])
    expect("the code it ended with", code, container(after)["lastState"]["terminated"]["exitCode"])
    expect("it answers again", 200, space.ask("job-ps-0", "/tfconfig")[0])
    expect("no restart by the operator", {}, remembered(space, "job"))
    end_well(space)


@scenario(onfailure_exit_code_0=("OnFailure",), never_exit_code_0=("Never",), exitcode_success=("ExitCode",))
def no_restart(space, policy):
    """A parameter server that succeeds is not restarted."""
    before = start_with_ps(space, policy)
    space.end("job-ps-0", 0)
    space.until_phase("job-ps-0", "Succeeded")
    until("it to be counted", lambda: space.counts("job")["PS"] == {"succeeded": 1})
    after = space.pod("job-ps-0")
    expect("the same pod", before["metadata"]["uid"], after["metadata"]["uid"])
    expect("restarts", 0, container(after)["restartCount"])
    end_well(space)
    expect("made once", 1, space.made("job-ps-0"))


@scenario()
def restart_never_exit_code_1(space):
    before = start_with_ps(space, "Never")
    space.end("job-ps-0", 1)
    space.until_true("job", "Failed")
    expect("conditions", [created("job"), running(space, "job", "False"), failed_replicas(space, "job", "PS")],
           space.conditions("job"))
    after = space.pod("job-ps-0")
    expect("the same pod", before["metadata"]["uid"], after["metadata"]["uid"])
    expect("its phase", "Failed", after["status"]["phase"])
    space.heard("job", told(failed_replicas(space, "job", "PS")), exited(space, "job-ps-0", 1))


@scenario()
def restart_exitcode_permanent_error(space):
    before = start_with_ps(space, "ExitCode")
    expect("the pod's policy", "Never", before["spec"]["restartPolicy"])
    space.end("job-ps-0", 1)
    space.until_true("job", "Failed")
    expect("conditions", [created("job"), running(space, "job", "False"), failed_permanently("job", "PS")],
           space.conditions("job"))
    expect("the same pod", before["metadata"]["uid"], space.uid("job-ps-0"))
    space.heard("job", told(failed_permanently("job", "PS"), warning=True), exited(space, "job-ps-0", 1))


@scenario()
def restart_exitcode_retryable_error(space):
    before = start_with_ps(space, "ExitCode")
    space.end("job-ps-0", 130)
    until("another pod", lambda: space.uid("job-ps-0") != before["metadata"]["uid"])
    space.until_running("job", "ps-0")
    after = space.pod("job-ps-0")
    expect("the new pod has no restarts", 0, container(after)["restartCount"])
    expect("it has the same environment", before["spec"]["containers"][0]["env"], after["spec"]["containers"][0]["env"])
    expect("the restart is on the job", {"ps-0": 1}, remembered(space, "job"))
    space.heard("job", told(restarting("job", "PS"), warning=True), exited(space, "job-ps-0", 130),
                pod_deleted("job-ps-0"))
    end_well(space)
    expect("made twice", 2, space.made("job-ps-0"))


@scenario()
def backoff_exit_code(space):
    """backoffLimit counts the pods that were replaced: two attempts, not more."""
    space.create(tfjob("loop", {"Worker": replica(space.cluster.image, policy="ExitCode", args=["--exit", "137"])},
                       {"backoffLimit": 1}))
    space.until_true("loop", "Failed")
    expect("how it failed", failed_backoff("loop"), space.conditions("loop")[-1])
    expect("restarts", {"worker-0": 1}, remembered(space, "loop"))
    space.heard("loop", told(failed_backoff("loop")))
    expect("tries", 2, space.made("loop-worker-0"))
    expect("the last try is kept", "Failed", space.pod("loop-worker-0")["status"]["phase"])


@scenario()
def backoff_in_place(space):
    """backoffLimit also counts the restarts made by the node. Then the pod is stopped."""
    space.create(tfjob("loop", {"Worker": replica(space.cluster.image, policy="OnFailure", args=["--exit", "1"])},
                       {"backoffLimit": 1}))
    space.until_true("loop", "Failed")
    expect("how it failed", failed_backoff("loop"), space.conditions("loop")[-1])
    until("nothing to run on", lambda: not [p for p in space.list("pods") if p["status"]["phase"] in ("Pending", "Running")])


@scenario()
def pod_deleted_while_running(space):
    """A pod that is deleted while it runs is replaced, unless the policy is Never, which fails the job."""
    image = space.cluster.image
    space.create(tfjob("kept", {"Worker": replica(image, policy="OnFailure"), "PS": replica(image, policy="ExitCode")}))
    space.create(tfjob("lost", {"Worker": replica(image, policy="Never")}))
    space.until_running("kept", "worker-0", "ps-0")
    space.until_running("lost", "worker-0")
    before = {pod: space.uid(pod) for pod in ("kept-worker-0", "kept-ps-0")}
    for pod in (*before, "lost-worker-0"):
        space.delete("pods", pod)
    for pod, uid in before.items():
        until(f"another {pod}", lambda p=pod, u=uid: space.uid(p) != u)
    space.until_running("kept", "worker-0", "ps-0")
    expect("it goes on", [created("kept"), running(space, "kept")], space.conditions("kept"))
    expect("both are counted", {"ps-0": 1, "worker-0": 1}, remembered(space, "kept"))
    space.until_true("lost", "Failed")
    expect("how the other failed", failed_replicas(space, "lost", "Worker"), space.conditions("lost")[-1])
    space.end("kept-worker-0", 0)
    space.until_true("kept", "Succeeded")


@scenario()
def finished_pod_collected(space):
    """A worker that has finished is not run again when its pod is deleted."""
    image = space.cluster.image
    space.create(tfjob("done", {"Worker": replica(image, 2, policy="ExitCode")}, successPolicy="AllWorkers"))
    space.until_running("done", "worker-0", "worker-1")
    space.end("done-worker-1", 0)
    until("it to be counted", lambda: space.counts("done")["Worker"] == {"active": 1, "succeeded": 1})
    space.delete("pods", "done-worker-1")
    until("it to be collected", lambda: space.gone("pods", "done-worker-1"))
    # The restart of the other worker shows that the operator has looked at the job again.
    before = space.uid("done-worker-0")
    space.end("done-worker-0", 130)
    until("another worker 0", lambda: space.uid("done-worker-0") != before)
    space.until_running("done", "worker-0")
    expect("pods", ["done-worker-0"], space.names("pods", "done"))
    space.end("done-worker-0", 0)
    space.until_true("done", "Succeeded")
    expect("counts", {"Worker": {"succeeded": 2}}, space.counts("done"))
    expect("it ran once", 1, space.made("done-worker-1"))


@scenario()
def restart_scope_job(space):
    """With an annotation, the failure of one replica restarts all replicas together."""
    image = space.cluster.image
    space.create(tfjob("tied", {"Worker": replica(image, 2, policy="ExitCode"), "PS": replica(image, policy="ExitCode")},
                       annotations={"trainyard.dev/restart-scope": "job"}))
    pods = ["tied-worker-0", "tied-worker-1", "tied-ps-0"]
    space.until_running("tied", "worker-0", "worker-1", "ps-0")
    before = {pod: space.uid(pod) for pod in pods}
    space.end("tied-worker-1", 143)
    for pod in pods:
        until(f"another {pod}", lambda p=pod: space.uid(p) != before[p])
    space.until_running("tied", "worker-0", "worker-1", "ps-0")
    expect("counted once", 1, sum(remembered(space, "tied").values()))
    space.end("tied-worker-0", 0)
    space.until_true("tied", "Succeeded")


@scenario()
def one_end_only(space):
    """The chief succeeds while a worker fails at the same moment: the job gets exactly one of the two final conditions."""
    image = space.cluster.image
    space.create(tfjob("both", {"Chief": replica(image), "Worker": replica(image)}))
    space.until_running("both", "chief-0", "worker-0")
    for pod in ("both-chief-0", "both-worker-0"):
        space.ask(pod, "/env")
    enders = [threading.Thread(target=space.end, args=("both-chief-0", 0)),
              threading.Thread(target=space.end, args=("both-worker-0", 1))]
    for ender in enders:
        ender.start()
    for ender in enders:
        ender.join()
    space.until_phase("both-chief-0", "Succeeded")
    space.until_phase("both-worker-0", "Failed")
    until("the end", lambda: is_true(space.job("both"), "Succeeded") or is_true(space.job("both"), "Failed"))
    ends = [c for c in space.conditions("both") if c[0] in ("Succeeded", "Failed")]
    if ends not in ([succeeded(space, "both")], [failed_replicas(space, "both", "Worker")]):
        raise Failure(f"expected one final condition, got: {ends}")
    # A job keeps its final condition, whatever happens to the other replicas.
    space.create(tfjob("kept", {"Chief": replica(image), "Worker": replica(image)}))
    space.until_running("kept", "chief-0", "worker-0")
    space.end("kept-chief-0", 0)
    space.until_true("kept", "Succeeded")
    space.end("kept-worker-0", 1)
    space.until_phase("kept-worker-0", "Failed")
    space.patch("tfjobs", "kept", {"metadata": {"annotations": {"look": "again"}}})
    fence(space)
    expect("still one end", [created("kept"), running(space, "kept", "False"), succeeded(space, "kept")],
           space.conditions("kept"))


def fence(space):
    """Wait until the operator has done all earlier work: that is so when a job created now runs."""
    space.create(tfjob("fence", {"Worker": replica(space.cluster.image)}))
    space.until_true("fence", "Running")
