#!/bin/bash
# Programs that know nothing of us, as their users write them, on the embedded cluster: PyTorch's DistributedDataParallel with
# a worker that dies, torchrun's elastic workers that become more and fewer, and a program that reads TF_CONFIG.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

is_true() { # JOB CONDITION
    [ "$(kubectl get "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].status}")" = True ]
}
# Training takes the time it takes: as long as it goes on, it is waited for.
wait_for_end() { # JOB POD
    local before=
    until is_true "$1" Succeeded; do
        ! is_true "$1" Failed || fail "$1 failed: $(kubectl describe "$1")"
        before=$(kubectl logs "$2" 2>/dev/null | wc -l) || true
        wait_until "$1 to end, or $2 to say more" has_moved "$1" "$2" "$before"
    done
}
has_moved() { is_true "$1" Succeeded || [ "$(kubectl logs "$2" | wc -l)" != "$3" ]; }
log_matches() { kubectl logs "$1" | grep -qE -- "$2"; }
losses() { kubectl logs "$1" --tail=-1 | sed -n 's/.*epoch.*loss //p' | sed -n '1p;$p' | tr '\n' ' '; }
uid_of() { kubectl get pod "$1" -o jsonpath='{.metadata.uid}'; }
is_another() { uid=$(uid_of "$1") && [ "$uid" != "$2" ]; }

! grep -qi trainyard "$ROOT"/examples/{pytorch,pytorch-elastic,tf-config}/train.py || fail "the programs know of us"
become_ordinary_user
mkdir "$SCRATCH/examples"
cp -r "$ROOT"/examples/{pytorch,pytorch-elastic,tf-config} "$SCRATCH/examples"
chown -R 65534:65534 "$SCRATCH/examples" 2>/dev/null || true
cd "$SCRATCH/examples" || exit
cluster_up --nodes 1

echo "TF_CONFIG"
kubectl apply -k tf-config
wait_until "the line to be found" is_true tfjob/line Succeeded
assert_contains "the chief" "chief: step 200 slope 2.99" "$(kubectl logs line-chief-0)"
for i in 0 1 2; do wait_for_log "line-worker-$i" "worker $i: done"; done

echo "DistributedDataParallel, and a worker that dies"
kubectl apply -k pytorch
wait_until "training to be under way" log_matches ddp-master-0 '^epoch 3 '
first=$(losses ddp-master-0 | cut -d' ' -f1)
master=$(uid_of ddp-master-0)
kill_in_pod ddp-worker-1 python3
wait_until "another master" is_another ddp-master-0 "$master"
wait_until "training to go on" log_matches ddp-master-0 '^rank 0: resuming after epoch'
wait_for_end pytorchjob/ddp ddp-master-0
weights=
for pod in master-0 worker-0 worker-1; do
    wait_until "ddp-$pod to have its weights" log_matches "ddp-$pod" ': weights '
    kubectl logs "ddp-$pod" --tail=-1 | grep 'resuming after epoch' || fail "ddp-$pod began anew"
    weights+=$(kubectl logs "ddp-$pod" --tail=-1 | sed -n 's/.*: weights //p')$'\n'
done
printf '%s' "$weights"
assert_eq "different weights" 1 "$(printf '%s' "$weights" | sort -u | wc -l)"
last=$(losses ddp-master-0 | cut -d' ' -f2)
echo "loss $first at first, $last at last"
awk -v first="$first" -v last="$last" 'BEGIN { exit !(last < first / 2) }' || fail "the loss went from $first to $last"
restarts=$(kubectl get pytorchjob ddp -o jsonpath='{.metadata.annotations.trainyard\.dev/restarts}')
assert_eq "restarts" 1 "$(grep -o '"count":[0-9]*' <<<"$restarts" | awk -F: '{ n += $2 } END { print n }')"
assert_eq "the end" "PyTorchJob ddp is successfully completed." \
    "$(kubectl get pytorchjob ddp -o jsonpath='{.status.conditions[-1:].message}')"
kubectl delete pytorchjob ddp

echo "torchrun with workers that come and go"
kubectl apply -k pytorch-elastic
wait_until "two workers to train" log_matches elastic-worker-0 'epoch [0-9]+ workers 2'
kubectl scale pytorchjob elastic --replicas=3
wait_until "three workers to train" log_matches elastic-worker-0 'epoch [0-9]+ workers 3'
assert_contains "the newcomer" "of 3 begins after epoch" "$(kubectl logs elastic-worker-2)"
! kubectl logs elastic-worker-2 | grep 'begins after epoch 0' || fail "the newcomer began anew"
kubectl scale pytorchjob elastic --replicas=2
wait_until "two workers to train again" log_matches elastic-worker-0 'rank [0-9] of 2 begins after epoch [1-9]'
wait_for_end pytorchjob/elastic elastic-worker-0
for i in 0 1; do wait_for_phase "elastic-worker-$i" Succeeded; done
assert_eq "restarts of the pods" "0 0" \
    "$(kubectl get pods -l training.kubeflow.org/job-name=elastic -o jsonpath='{.items[*].status.containerStatuses[0].restartCount}')"
