"""Does what a notebook with the Kubeflow SDK does, against the cluster of the kubeconfig: trains functions as a PyTorchJob and as a TFJob,
waits for the jobs, reads their logs and deletes them, and sees a failing job fail. It exits with 0, or prints which answer differed."""
from kubeflow.training import TrainingClient

TIMEOUT = 300  # seconds; only a defect reaches it
# Debian's torchrun (PyTorch 1.13 with Python 3.11) fails with its own defaults of these two options. These values only print to the
# console.
TORCHRUN = {"PET_REDIRECTS": "2", "PET_TEE": "1"}


def sum_ranks(parameters):
    """Runs in the pods, each of which has Debian's PyTorch."""
    import torch
    import torch.distributed as group

    group.init_process_group("gloo")
    total = torch.tensor([float(group.get_rank() + parameters["offset"])])
    group.all_reduce(total)
    print(f"rank {group.get_rank()} of {group.get_world_size()}: the sum is {total.item():g}", flush=True)


def tell_task():
    import json
    import os

    task = json.loads(os.environ["TF_CONFIG"])
    print(f"{task['task']['type']} {task['task']['index']} of {sorted(task['cluster'])}", flush=True)


def fail_at_once():
    raise RuntimeError("on purpose")


def finish(client, name, kind):
    """Waits for a job, and returns the logs of all its pods."""
    job = client.wait_for_job_conditions(name, job_kind=kind, timeout=TIMEOUT, polling_interval=1)
    assert job.status.completion_time, job.status
    assert client.is_job_succeeded(name, job_kind=kind)
    logs, _ = client.get_job_logs(name, job_kind=kind, is_master=False)
    return logs


def forget(client, name, kind):
    client.delete_job(name, job_kind=kind)
    assert name not in [each.metadata.name for each in client.list_jobs(job_kind=kind)]


def torch_processes(client):
    """The SDK starts torchrun in every pod."""
    client.create_job(name="sum", job_kind="PyTorchJob", train_func=sum_ranks, parameters={"offset": 1}, num_workers=2,
                      num_procs_per_worker=2, env_vars=TORCHRUN)
    logs = finish(client, "sum", "PyTorchJob")
    assert sorted(logs) == client.get_job_pod_names("sum") == ["sum-master-0", "sum-worker-0"], logs
    for rank in range(4):
        said = logs["sum-master-0" if rank < 2 else "sum-worker-0"]
        assert f"rank {rank} of 4: the sum is 10" in said, logs
    followed, events = client.get_job_logs("sum", job_kind="PyTorchJob", follow=True, verbose=True)  # follows the logs of the master alone
    assert list(followed) == ["sum-master-0"] and "rank 0 of 4" in followed["sum-master-0"], followed
    assert any("Created pod: sum-worker-0" in line for line in events["pytorchjob/sum"]), events
    forget(client, "sum", "PyTorchJob")


def tensorflow_roles(client):
    client.create_job(name="roles", job_kind="TFJob", train_func=tell_task, num_workers=2, num_chief_replicas=1, num_ps_replicas=1)
    logs = finish(client, "roles", "TFJob")
    said = {name: text.strip() for name, text in logs.items()}
    for name, task in ("chief-0", "chief 0"), ("worker-0", "worker 0"), ("worker-1", "worker 1"):
        assert said[f"roles-{name}"] == f"{task} of ['chief', 'ps', 'worker']", said
    forget(client, "roles", "TFJob")


def failure(client):
    client.create_job(name="bad", job_kind="TFJob", train_func=fail_at_once, num_workers=1)
    try:
        client.wait_for_job_conditions("bad", job_kind="TFJob", timeout=TIMEOUT, polling_interval=1)
    except RuntimeError as error:
        assert "is Failed" in str(error), error
    else:
        raise AssertionError("the job did not fail")
    assert client.is_job_failed("bad", job_kind="TFJob")
    forget(client, "bad", "TFJob")


def main():
    client = TrainingClient()
    torch_processes(client)
    tensorflow_roles(client)
    failure(client)


main()
