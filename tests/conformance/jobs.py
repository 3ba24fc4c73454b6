"""Short functions that build jobs, and the conditions and events that the operator is expected to write."""

PREFIX = "training.kubeflow.org/"


def replica(image, replicas=1, policy=None, args=(), **more):
    """One replica type: its pods run the conformance replica. `more` is added to the pod's spec."""
    container = {"name": "tensorflow", "image": image, "imagePullPolicy": "IfNotPresent"}
    if args:
        container["args"] = list(args)
    # Pods start and end faster without the volume of a token.
    pod = {"automountServiceAccountToken": False, "containers": [container], **more}
    spec = {"replicas": replicas, "template": {"spec": pod}}
    if policy:
        spec["restartPolicy"] = policy
    return spec


def tfjob(name, replicas, run_policy=None, annotations=None, **spec):
    if run_policy:
        spec["runPolicy"] = run_policy
    spec["tfReplicaSpecs"] = replicas
    metadata = {"name": name}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": metadata, "spec": spec}


def pytorchjob(name, image, workers, policy=None, **spec):
    """A master and workers. All of them listen on the master's port."""
    specs = {"Master": 1, "Worker": workers}
    spec["pytorchReplicaSpecs"] = {}
    for role, count in specs.items():
        one = replica(image, count, policy, ["--port", "23456"])
        one["template"]["spec"]["containers"][0]["name"] = "pytorch"
        spec["pytorchReplicaSpecs"][role] = one
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name}, "spec": spec}


def labels(job, role, index, master=False, controller="tfjob-controller"):
    return {PREFIX + "operator-name": controller, PREFIX + "job-name": job, PREFIX + "replica-type": role,
            PREFIX + "replica-index": str(index), **({PREFIX + "job-role": "master"} if master else {})}


def owner(job):
    return [{"apiVersion": "kubeflow.org/v1", "kind": job["kind"], "name": job["metadata"]["name"],
             "uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]


# --- conditions: (type, status, reason, message)
def created(name):
    return ("Created", "True", "TFJobCreated", f"TFJob {name} is created.")


def running(space, name, status="True"):
    return ("Running", status, "TFJobRunning", f"TFJob {space.name}/{name} is running.")


def restarting(name, role):
    return ("Restarting", "True", "TFJobRestarting", f"job {name} is restarting because {role} replica(s) failed.")


def succeeded(space, name):
    return ("Succeeded", "True", "TFJobSucceeded", f"TFJob {space.name}/{name} successfully completed.")


def failed(message):
    return ("Failed", "True", "TFJobFailed", message)


def failed_replicas(space, name, role, count=1):
    return failed(f"TFJob {space.name}/{name} has failed because {count} {role} replica(s) failed.")


def failed_permanently(name, role):
    return failed(f'job "{name}" is failing because "{role}" replica(s) failed.')


def failed_backoff(name):
    return failed(f"Job {name} has failed because it has reached the specified backoff limit")


def failed_deadline(name):
    return failed(f"Job {name} has failed because it was active longer than specified deadline")


def suspended(name):
    return ("Suspended", "True", "TFJobSuspended", f"TFJob {name} is suspended.")


def stopped_by_suspend(name):
    return ("Running", "False", "TFJobSuspended", f"TFJob {name} is suspended.")


def resumed(name):
    return ("Suspended", "False", "TFJobResumed", f"TFJob {name} is resumed.")


# --- events: (type, reason, message)
def told(condition, warning=False):
    return ("Warning" if warning else "Normal", condition[2], condition[3])


def pod_created(pod):
    return ("Normal", "SuccessfulCreatePod", f"Created pod: {pod}")


def pod_deleted(pod):
    return ("Normal", "SuccessfulDeletePod", f"Deleted pod: {pod}")


def service_created(service):
    return ("Normal", "SuccessfulCreateService", f"Created service: {service}")


def service_deleted(service):
    return ("Normal", "SuccessfulDeleteService", f"Deleted service: {service}")


def exited(space, pod, code):
    return ("Normal", "ExitedWithCode", f"Pod: {space.name}.{pod} exited with code {code}")
