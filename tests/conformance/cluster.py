"""The cluster that the scenarios use: any cluster of a kubeconfig. The API is reached through `kubectl proxy`, the replicas through
`kubectl port-forward`. Nothing here waits for a fixed time: until() waits for a condition, with a deadline that only a defect
reaches."""
import http.client
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse

PATIENCE_S = int(os.environ.get("TRAINYARD_PATIENCE", "300"))
ANSWER_S = PATIENCE_S / 2  # timeout of one answer, which leaves time to ask again
POLL_S = 0.1


def first_sentence(message):
    """Drop the names of replicas that an operator may add after "2 Worker replica(s) failed."."""
    start, end, _ = message.partition("replica(s) failed.")
    return start + end


def warned(event):
    """The event as a Warning, if it is about a failure: an operator may report failures as Normal or as Warning."""
    return ("Warning",) + event[1:] if event[1].endswith("Failed") or event[1] == "ExitedWithCode" else event


class Failure(Exception):
    """The scenario does not hold."""


class Refused(Exception):
    """The API server's answer to a request that it rejects."""

    def __init__(self, status):
        super().__init__(status.get("message", str(status)))
        self.code = status.get("code")
        self.reason = status.get("reason")
        self.causes = [cause.get("field", "") for cause in (status.get("details") or {}).get("causes", [])]


def expect(what, expected, actual):
    if expected != actual:
        raise Failure(f"{what}:\n  expected {expected}\n  got      {actual}")


def until(what, ask):
    """Call ask() until its result is true, and return it. A missing object or an unreachable server counts as not true yet."""
    deadline = time.monotonic() + PATIENCE_S
    last = None
    while True:
        try:
            last = ask()
            if last:
                return last
        except (Refused, OSError, http.client.HTTPException) as error:
            last = error
        if time.monotonic() > deadline:
            raise Failure(f"waited {PATIENCE_S} s for: {what}; the last answer: {last}")
        time.sleep(POLL_S)


class Child:
    """A kubectl that runs until it is stopped. It prints the local port on which it listens."""

    def __init__(self, command, before, after):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if before in line:
                self.port = int(line.split(before)[1].split(after)[0])
                # Read its later output, too: otherwise the pipe would fill.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return
        self.stop()
        raise ConnectionError(f"{' '.join(command)}: {''.join(said)}")

    def runs(self):
        return self.process.poll() is None

    def stop(self):
        self.process.kill()
        self.process.wait()


class Cluster:
    def __init__(self, kubectl, image, restart_operator):
        self.kubectl = kubectl
        self.image = image
        self.restart_command = restart_operator
        self.local = threading.local()
        self.generation = 0
        self.start_proxy()

    def start_proxy(self):
        self.proxy = Child([self.kubectl, "proxy", "--port=0"], "127.0.0.1:", "\n")
        self.generation += 1

    def stop(self):
        self.proxy.stop()

    def restart_operator(self):
        """Kill the operator and start it again with the command of --restart-operator."""
        subprocess.run(self.restart_command, shell=True, check=True, stdout=subprocess.DEVNULL)
        self.proxy.stop()
        self.start_proxy()

    def connection(self):
        if getattr(self.local, "generation", None) != self.generation:
            self.local.line = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=ANSWER_S)
            self.local.generation = self.generation
        return self.local.line

    def request(self, method, path, body=None, kind="application/json"):
        line = self.connection()
        try:
            line.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
            answer = line.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            line.close()
            raise
        try:
            value = json.loads(text)
        except ValueError:
            value = {"code": answer.status, "message": text.decode(errors="replace")}
        if answer.status >= 300:
            raise Refused(value)
        return value


def is_true(job, condition):
    return any(c["type"] == condition and c["status"] == "True" for c in job.get("status", {}).get("conditions", []))


PATHS = {
    "pods": "/api/v1",
    "services": "/api/v1",
    "events": "/api/v1",
    "serviceaccounts": "/api/v1",
    "tfjobs": "/apis/kubeflow.org/v1",
    "pytorchjobs": "/apis/kubeflow.org/v1",
}


class PodRecord:
    """Every pod that has ever existed in a namespace, by name: a pod that was created twice is seen even after it is gone."""

    def __init__(self, cluster, namespace):
        self.cluster = cluster
        self.path = f"/api/v1/namespaces/{namespace}/pods"
        self.uids = {}
        self.alive = set() # the uids of those that still exist, as far as the watch has read
        self.line = None
        self.stopped = False
        self.begun = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()
        # A pod that is created and deleted before the watch begins would be missed.
        if not self.begun.wait(PATIENCE_S):
            raise Failure(f"waited {PATIENCE_S} s for: the pods of {namespace} to be watched")

    def add(self, pod):
        uid = pod["metadata"]["uid"]
        self.uids.setdefault(pod["metadata"]["name"], set()).add(uid)
        return uid

    def watch(self):
        pods = self.cluster.request("GET", self.path)
        self.alive = {self.add(pod) for pod in pods["items"]}
        self.line = http.client.HTTPConnection("127.0.0.1", self.cluster.proxy.port)
        self.line.request("GET", f"{self.path}?watch=1&resourceVersion={pods['metadata']['resourceVersion']}")
        self.begun.set()
        for text in self.line.getresponse():
            event = json.loads(text)
            uid = self.add(event["object"])
            (self.alive.discard if event["type"] == "DELETED" else self.alive.add)(uid)

    def run(self):
        while not self.stopped:
            try:
                self.watch()
            except Exception: # the server restarted, or the record was closed
                time.sleep(POLL_S)

    def close(self):
        self.stopped = True
        if self.line and self.line.sock:
            self.line.sock.shutdown(socket.SHUT_RDWR)


class Space:
    """A namespace for one scenario, and the operations in it, with jobs of one kind."""

    def __init__(self, cluster, name, kind="TFJob"):
        self.cluster = cluster
        self.name = name
        self.kind = kind
        self.jobs = kind.lower() + "s"
        self.controller = kind.lower() + "-controller"
        self.forwards = {}
        self.lock = threading.Lock()
        cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        # No pod is admitted before the account exists.
        until("the default service account", lambda: self.get("serviceaccounts", "default"))
        self.record = PodRecord(cluster, name)

    def close(self):
        for forward in self.forwards.values():
            forward.stop()
        self.record.close()
        self.cluster.request("DELETE", f"/api/v1/namespaces/{self.name}")

    # --- objects
    def path(self, resource, name=None, part=None):
        return "/".join([f"{PATHS[resource]}/namespaces/{self.name}/{resource}"] + [p for p in (name, part) if p])

    def get(self, resource, name):
        return self.cluster.request("GET", self.path(resource, name))

    def list(self, resource, selector=None):
        query = "?labelSelector=" + urllib.parse.quote(selector) if selector else ""
        return self.cluster.request("GET", self.path(resource) + query)["items"]

    def create(self, job):
        return self.cluster.request("POST", self.path(self.jobs), job)

    def patch(self, resource, name, change):
        return self.cluster.request("PATCH", self.path(resource, name), change, "application/merge-patch+json")

    def delete(self, resource, name, propagation="Background"):
        return self.cluster.request("DELETE", self.path(resource, name), {"propagationPolicy": propagation})

    def gone(self, resource, name):
        try:
            self.get(resource, name)
        except Refused as error:
            if error.code == 404:
                return True
            raise
        return False

    def names(self, resource, job):
        return sorted(o["metadata"]["name"] for o in self.list(resource, f"training.kubeflow.org/job-name={job}"))

    def pod(self, name):
        return self.get("pods", name)

    def uid(self, pod):
        return self.pod(pod)["metadata"]["uid"]

    def made(self, pod):
        """How many pods of this name have existed, at least one. Waits first, because the record lags behind the cluster."""
        def is_on_record():
            present = set() if self.gone("pods", pod) else {self.uid(pod)}
            return pod in self.record.uids and self.record.uids[pod] & self.record.alive == present
        until(f"{pod} to be on record", is_on_record)
        return len(self.record.uids[pod])

    def labels(self, pod, job):
        """The labels of a pod, without that of its gang, which exists only if the operator schedules gangs."""
        labels = dict(pod["metadata"]["labels"])
        expect("the gang", job, labels.pop("scheduling.x-k8s.io/pod-group", job))
        return labels

    # --- facts about jobs
    def job(self, name):
        return self.get(self.jobs, name)

    def conditions(self, name):
        return [(c["type"], c["status"], c["reason"], first_sentence(c["message"]))
                for c in self.job(name).get("status", {}).get("conditions", [])]

    def counts(self, name):
        """Per replica type: active, succeeded, failed. Checks the selector, by which scaling finds the pods, and removes it."""
        statuses = self.job(name)["status"].get("replicaStatuses", {})
        for role, counts in statuses.items():
            expect("the selector", f"training.kubeflow.org/job-name={name},"
                   f"training.kubeflow.org/operator-name={self.controller},"
                   f"training.kubeflow.org/replica-type={role.lower()}", counts.pop("selector"))
        return statuses

    def events(self, name):
        """The events of a job: (type, reason, message) → count."""
        said = {}
        for event in self.list("events"):
            about = event["involvedObject"]
            if about["kind"] == self.kind and about["name"] == name:
                expect("the source of the event", self.controller, event["source"]["component"])
                key = (event["type"], event["reason"], first_sentence(event["message"]))
                said[key] = said.get(key, 0) + event.get("count", 1)
        return said

    def heard(self, name, *events):
        """Wait for the events, which are written after the status."""
        for event in events:
            until(f"the event {event}", lambda e=event: e in self.events(name) or warned(e) in self.events(name))

    # --- waiting
    def until_true(self, name, condition):
        def ask():
            job = self.job(name)
            for end in ("Succeeded", "Failed"):
                if end != condition and is_true(job, end):
                    raise Failure(f"{name} should become {condition}, but its conditions are: {job['status']['conditions']}")
            return is_true(job, condition)
        until(f"{name} to be {condition}", ask)

    def until_running(self, name, *replicas):
        """Wait until the job is Running and the containers of these pods run."""
        self.until_true(name, "Running")
        for replica in replicas:
            until(f"{name}-{replica} to run", lambda p=f"{name}-{replica}": self.runs(p))

    def runs(self, pod):
        pod = self.pod(pod)
        return "deletionTimestamp" not in pod["metadata"] and pod.get("status", {}).get("phase") == "Running" and \
            all("running" in c["state"] for c in pod["status"].get("containerStatuses", [{"state": {}}]))

    def until_phase(self, pod, phase):
        until(f"{pod} to be {phase}", lambda: self.pod(pod)["status"]["phase"] == phase)

    def until_names(self, resource, job, *names):
        until(f"the {resource} of {job} to be {names}", lambda: self.names(resource, job) == sorted(names))

    # --- replicas
    def ask_once(self, pod, path, port):
        with self.lock:
            forward = self.forwards.get(pod)
            if not forward or not forward.runs():
                forward = Child([self.cluster.kubectl, "port-forward", "-n", self.name, f"pod/{pod}", f":{port}"],
                                "Forwarding from 127.0.0.1:", " ")
                self.forwards[pod] = forward
        line = http.client.HTTPConnection("127.0.0.1", forward.port, timeout=ANSWER_S)
        try:
            line.request("GET", path)
            answer = line.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            with self.lock: # the forward may lead to an earlier pod of this name
                forward.stop()
            raise
        finally:
            line.close()

    def ask(self, pod, path, port=2222):
        """The replica's answer. Waits until the replica listens."""
        return until(f"{pod} to answer {path}", lambda: self.ask_once(pod, path, port))

    def resolve(self, pod, name, port=2222):
        """The addresses that the replica finds for a name, or its error text if no name server answers."""
        status, text = self.ask(pod, f"/resolve?name={name}", port)
        return json.loads(text) if status == 200 else text

    def end(self, pod, code, port=2222):
        """Let the replica exit. The request is sent once, after the replica is known to listen."""
        self.ask(pod, "/env", port)
        try:
            expect(f"{pod} asked to exit", (200, "shutting down"), self.ask_once(pod, f"/exit?exitCode={code}", port))
        except (OSError, http.client.HTTPException):
            pass # it exited before its answer arrived
        with self.lock:
            self.forwards.pop(pod).stop()
