#!/usr/bin/python3
"""The Kubernetes client for Python works with the cluster of the kubeconfig: typed calls, paginated lists, watches, patches, conflicts,
rejections, exec, port-forward and logs of pods, the proxy to pods and services, custom objects, and the dynamic client with server-side
apply. It exits with 0, or prints which answer was wrong."""
import json
import threading

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.stream import portforward, stream

NAMESPACE = "python"


def refused(status, call, *arguments, **options):
    """Return the error of a call that the server must reject with this status."""
    try:
        call(*arguments, **options)
    except ApiException as error:
        assert error.status == status, f"rejected with {error.status}, not {status}: {error.body}"
        return error
    raise AssertionError(f"accepted, but {status} was expected: {call.__name__}{arguments}")


def settings(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"set": "a"}), data=data)


def typed_objects(core):
    made = core.create_namespaced_config_map(NAMESPACE, settings("one", rate="0.1"))
    assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo, made
    assert core.read_namespaced_config_map("one", NAMESPACE).data == {"rate": "0.1"}
    error = refused(409, core.create_namespaced_config_map, NAMESPACE, settings("one"))
    assert '"reason":"AlreadyExists"' in error.body, error.body
    made.data["rate"] = "0.2"
    newer = core.replace_namespaced_config_map("one", NAMESPACE, made)
    made.data["rate"] = "0.3"
    refused(409, core.replace_namespaced_config_map, "one", NAMESPACE, made)  # with an outdated resourceVersion
    assert int(newer.metadata.resource_version) > int(made.metadata.resource_version)
    patched = core.patch_namespaced_config_map("one", NAMESPACE, {"data": {"rate": None, "steps": "7"}})
    assert patched.data == {"steps": "7"}, patched.data
    patched = core.patch_namespaced_config_map("one", NAMESPACE, [{"op": "replace", "path": "/data/steps", "value": "8"}])
    assert patched.data == {"steps": "8"}, patched.data
    assert core.create_namespaced_config_map(NAMESPACE, settings("two"), dry_run="All").metadata.name == "two"
    assert "two" not in [item.metadata.name for item in core.list_namespaced_config_map(NAMESPACE).items]
    refused(404, core.read_namespaced_config_map, "two", NAMESPACE)
    refused(422, core.create_namespaced_config_map, NAMESPACE, settings("No_Name"))


def lists_in_parts(core):
    for number in range(25):
        core.create_namespaced_secret(NAMESPACE, {"metadata": {"name": f"s-{number:02}", "labels": {"odd": str(number % 2)}}})
    names, token = [], None
    while token != "":
        part = core.list_namespaced_secret(NAMESPACE, limit=10, label_selector="odd", _continue=token)
        assert len(part.items) <= 10
        names += [item.metadata.name for item in part.items]
        token = part.metadata._continue or ""
    assert names == [f"s-{number:02}" for number in range(25)], names
    assert len(core.list_namespaced_secret(NAMESPACE, label_selector="odd=1").items) == 12
    assert len(core.list_namespaced_secret(NAMESPACE, field_selector="metadata.name=s-03").items) == 1
    core.delete_collection_namespaced_secret(NAMESPACE, label_selector="odd=0")
    assert len(core.list_namespaced_secret(NAMESPACE, label_selector="odd").items) == 12


def watches(core):
    before = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

    def change():
        core.create_namespaced_config_map(NAMESPACE, settings("seen"))
        core.patch_namespaced_config_map("seen", NAMESPACE, {"data": {"a": "1"}})
        core.delete_namespaced_config_map("seen", NAMESPACE)

    thread = threading.Thread(target=change)
    thread.start()
    heard = []
    for event in watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, resource_version=before, timeout_seconds=60):
        heard.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            break
    thread.join()
    assert heard == [("ADDED", "seen"), ("MODIFIED", "seen"), ("DELETED", "seen")], heard


def jobs(core, batch):
    container = client.V1Container(name="c", image="busybox", command=["sh", "-c", "echo done by python"])
    template = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container], restart_policy="Never"))
    batch.create_namespaced_job(NAMESPACE, client.V1Job(metadata=client.V1ObjectMeta(name="job"),
                                                        spec=client.V1JobSpec(template=template)))
    for event in watch.Watch().stream(batch.list_namespaced_job, NAMESPACE, timeout_seconds=120):
        if event["object"].status.succeeded:
            break
    else:
        raise AssertionError("the job did not end")
    pods = core.list_namespaced_pod(NAMESPACE, label_selector="job-name=job")
    pod = pods.items[0]
    assert pod.status.phase == "Succeeded", pod.status
    assert core.read_namespaced_pod_log(pod.metadata.name, NAMESPACE) == "done by python\n"
    batch.delete_namespaced_job("job", NAMESPACE, propagation_policy="Foreground")
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, timeout_seconds=120,
                                      resource_version=pods.metadata.resource_version):
        if event["type"] == "DELETED":
            break
    else:
        raise AssertionError("the pod was not deleted with its job")


def served_pod(core):
    """A running pod that serves one file on port 8080, and a service in front of it."""
    command = ["sh", "-c", "mkdir -p /tmp/www && cd /tmp/www && echo served > page.txt && exec python3 -m http.server 8080"]
    probe = client.V1Probe(http_get=client.V1HTTPGetAction(path="/page.txt", port=8080), period_seconds=1)
    container = client.V1Container(name="c", image="busybox", command=command, readiness_probe=probe)
    core.create_namespaced_service(NAMESPACE, client.V1Service(
        metadata=client.V1ObjectMeta(name="front"),
        spec=client.V1ServiceSpec(selector={"app": "served"}, ports=[client.V1ServicePort(port=80, target_port=8080)])))
    core.create_namespaced_pod(NAMESPACE, client.V1Pod(metadata=client.V1ObjectMeta(name="served", labels={"app": "served"}),
                                                       spec=client.V1PodSpec(containers=[container])))
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, field_selector="metadata.name=served", timeout_seconds=120):
        if any(each.type == "Ready" and each.status == "True" for each in event["object"].status.conditions or []):
            return
    raise AssertionError("the pod did not become Ready")


def commands(core):
    """A command gets its standard input. The client sends a string as a WebSocket text message and bytes as a binary message."""
    line = stream(core.connect_get_namespaced_pod_exec, "served", NAMESPACE, command=["sh"], stdin=True, stdout=True, stderr=True,
                  tty=False, _preload_content=False)
    line.write_stdin("echo as text\n")
    assert line.readline_stdout(timeout=120) == "as text"
    line.write_stdin(b"echo as bytes >&2\n")
    assert line.readline_stderr(timeout=120) == "as bytes"
    line.write_stdin("exit 3\n")  # only now: the client loses a line that arrives together with the end of the stream
    line.run_forever(timeout=120)
    assert line.returncode == 3, line.returncode


def ports(core):
    """Ports are forwarded as channels of a WebSocket: one with a listener, and one without."""
    lines = portforward(core.connect_get_namespaced_pod_portforward, "served", NAMESPACE, ports="8080,9")
    assert lines.error(8080) is None, lines.error(8080)
    line = lines.socket(8080)
    line.settimeout(120)
    line.sendall(b"GET /page.txt HTTP/1.0\r\n\r\n")
    answer = b""
    while piece := line.recv(65536):  # the session ends with its last connection
        answer += piece
    assert answer.endswith(b"\r\n\r\nserved\n"), answer
    lines.socket(9).settimeout(120)
    assert lines.socket(9).recv(1) == b""
    assert "error forwarding port 9 to pod served" in lines.error(9), lines.error(9)


def proxies(core):
    """The server proxies requests to a pod, and to the pods of a service."""
    assert core.connect_get_namespaced_pod_proxy_with_path("served:8080", NAMESPACE, "page.txt") == "served\n"
    refused(404, core.connect_get_namespaced_pod_proxy_with_path, "served:8080", NAMESPACE, "nothing")
    for event in watch.Watch().stream(core.list_namespaced_endpoints, NAMESPACE, field_selector="metadata.name=front",
                                      timeout_seconds=120):
        if any(subset.addresses for subset in event["object"].subsets or []):
            break
    assert core.connect_get_namespaced_service_proxy_with_path("front:80", NAMESPACE, "page.txt") == "served\n"


def followed_log(core):
    """A client follows a log while the pod writes it. After each line the pod waits until the client has read that line."""
    script = "for line in one two three; do echo $line; until [ -e /tmp/$line ]; do sleep 0.1; done; done"
    container = client.V1Container(name="c", image="busybox", command=["sh", "-c", script])
    core.create_namespaced_pod(NAMESPACE, client.V1Pod(metadata=client.V1ObjectMeta(name="slow"),
                                                       spec=client.V1PodSpec(containers=[container], restart_policy="Never")))
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, field_selector="metadata.name=slow", timeout_seconds=120):
        if event["object"].status.phase == "Running":
            break
    lines = []
    for line in watch.Watch().stream(core.read_namespaced_pod_log, name="slow", namespace=NAMESPACE):
        lines.append(line)
        stream(core.connect_get_namespaced_pod_exec, "slow", NAMESPACE, command=["touch", f"/tmp/{line}"], stdin=False, stdout=True,
               stderr=True, tty=False)
    assert lines == ["one", "two", "three"], lines


def custom_objects(api):
    job = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "py"},
           "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": {"containers": [
               {"name": "tensorflow", "image": "busybox", "command": ["true"]}]}}}}}}
    api.create_namespaced_custom_object("kubeflow.org", "v1", NAMESPACE, "tfjobs", job)
    for event in watch.Watch().stream(api.list_namespaced_custom_object, "kubeflow.org", "v1", NAMESPACE, "tfjobs",
                                      timeout_seconds=120):
        conditions = event["object"].get("status", {}).get("conditions", [])
        if any(each["type"] == "Succeeded" and each["status"] == "True" for each in conditions):
            break
    else:
        raise AssertionError("the TFJob did not succeed")
    api.delete_namespaced_custom_object("kubeflow.org", "v1", NAMESPACE, "tfjobs", "py")


def dynamic_client(core):
    resources = dynamic.DynamicClient(core.api_client)
    maps = resources.resources.get(api_version="v1", kind="ConfigMap")

    def apply(manager, **options):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"by": manager}}
        # A string: this version of the client sends only strings with the content type of an apply.
        return maps.server_side_apply(json.dumps(body), name="applied", namespace=NAMESPACE, field_manager=manager, **options)

    applied = apply("first")
    assert [each.manager for each in applied.metadata.managedFields] == ["first"], applied
    conflict = refused(409, apply, "second")
    assert "conflict with" in str(conflict.body), conflict.body  # bytes, or text in newer versions
    assert apply("second", force_conflicts=True).data.by == "second"
    kinds = {each.kind for each in resources.resources.search()}
    assert {"Pod", "TFJob", "PyTorchJob", "Deployment", "EndpointSlice"} <= kinds, kinds


def main():
    config.load_kube_config()
    core = client.CoreV1Api()
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    typed_objects(core)
    lists_in_parts(core)
    watches(core)
    jobs(core, client.BatchV1Api())
    served_pod(core)
    commands(core)
    ports(core)
    proxies(core)
    followed_log(core)
    custom_objects(client.CustomObjectsApi())
    dynamic_client(core)
    before = core.list_namespace().metadata.resource_version
    core.delete_namespace(NAMESPACE)
    for event in watch.Watch().stream(core.list_namespace, timeout_seconds=120, resource_version=before):
        if (event["type"], event["object"].metadata.name) == ("DELETED", NAMESPACE):
            break
    else:
        raise AssertionError("the namespace was not deleted")


main()
