#!/bin/bash
# Programs without any code for Trainyard run on the embedded cluster: PyTorch's DistributedDataParallel with a worker that is killed,
# torchrun with elastic workers that are scaled up and down, and a program that reads TF_CONFIG.
# Long: 119 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

# Unless TRAINYARD_TEST_SCALE > 1, the two PyTorch programs train for fewer epochs than in their examples, so that the test is shorter.
DDP_EPOCHS=$((SCALE > 1 ? 30 : 15))
ELASTIC_EPOCHS=$((SCALE > 1 ? 300 : 120))

# Waits for a line of a pod's log with one `logs -f` instead of polling: polling would take CPU time from the training.
says() { grep -qE -m1 -- "$2" <(kubectl logs -f "$1"); }
wait_to_say() { wait_until "$1 to say '$2'" says "$1" "$2"; } # POD PATTERN
losses() { kubectl logs "$1" --tail=-1 | sed -n 's/.*epoch.*loss //p' | sed -n '1p;$p' | tr '\n' ' '; }

! grep -qi trainyard "$ROOT"/examples/{pytorch,pytorch-elastic,tf-config}/train.py || fail "an example program contains code for Trainyard"
become_ordinary_user
example_cluster_up --nodes 1

echo "--- TF_CONFIG"
tutorial_open examples/tf-config/tfjob.yaml
tutorial_type 'kubectl logs'
assert_contains "the chief" "chief: step 200 slope 2.99" "$TYPED"
for i in 0 1 2; do wait_for_log "line-worker-$i" "worker $i: done"; done
tutorial_done

echo "--- DistributedDataParallel, with a worker that is killed"
tutorial_open examples/pytorch/pytorchjob.yaml
sed -i "s|--checkpoint=|--epochs=$DDP_EPOCHS, --checkpoint=|" "$SCRATCH/tree/examples/pytorch/pytorchjob.yaml"
tutorial_type 'kubectl apply'
wait_to_say ddp-master-0 '^epoch 3 '
first=$(losses ddp-master-0 | cut -d' ' -f1)
master=$(uid_of ddp-master-0)
kill_in_pod ddp-worker-1 python3
wait_until "the pod of the master to be replaced" is_replaced ddp-master-0 "$master"
wait_to_say ddp-master-0 '^rank 0: resuming after epoch'
tutorial_type 'kubectl logs -f ddp-master-0'
tutorial_type 'kubectl wait'
tutorial_type 'kubectl logs ddp-worker-1'
tutorial_done
weights=
for pod in master-0 worker-0 worker-1; do
    wait_to_say "ddp-$pod" ': weights '
    kubectl logs "ddp-$pod" --tail=-1 | grep 'resuming after epoch' || fail "ddp-$pod did not resume from the checkpoint"
    weights+=$(kubectl logs "ddp-$pod" --tail=-1 | sed -n 's/.*: weights //p')$'\n'
done
printf '%s' "$weights"
assert_eq "number of distinct weights" 1 "$(printf '%s' "$weights" | sort -u | wc -l)"
last=$(losses ddp-master-0 | cut -d' ' -f2)
echo "loss: $first in the first epoch, $last in the last"
awk -v first="$first" -v last="$last" 'BEGIN { exit !(last < first / 2) }' || fail "the loss went from $first to $last"
restarts=$(kubectl get pytorchjob ddp -o jsonpath='{.metadata.annotations.trainyard\.dev/restarts}')
assert_eq "restarts" 1 "$(grep -o '"count":[0-9]*' <<<"$restarts" | awk -F: '{ n += $2 } END { print n }')"
assert_eq "the last condition of the job" "PyTorchJob ddp is successfully completed." \
    "$(kubectl get pytorchjob ddp -o jsonpath='{.status.conditions[-1:].message}')"
kubectl delete pytorchjob ddp

echo "--- torchrun with workers that are scaled up and down"
tutorial_open examples/pytorch-elastic/pytorchjob.yaml
sed -i "s|- name: SNAPSHOT|- {name: EPOCHS, value: \"$ELASTIC_EPOCHS\"}\n                &|" \
    "$SCRATCH/tree/examples/pytorch-elastic/pytorchjob.yaml"
tutorial_type 'kubectl apply'
wait_to_say elastic-worker-0 'epoch [0-9]+ workers 2'
tutorial_type 'kubectl scale pytorchjob elastic --replicas=3'
wait_to_say elastic-worker-0 'epoch [0-9]+ workers 3'
wait_to_say elastic-worker-2 'of 3 begins after epoch'
! kubectl logs elastic-worker-2 | grep 'begins after epoch 0' || fail "the new worker did not resume from the snapshot"
tutorial_type 'kubectl scale pytorchjob elastic --replicas=2'
wait_to_say elastic-worker-0 'rank [0-9] of 2 begins after epoch [1-9]'
tutorial_type 'kubectl logs -f elastic-worker-0'
tutorial_type 'kubectl wait'
tutorial_done
for i in 0 1; do wait_for_phase "elastic-worker-$i" Succeeded; done
assert_eq "restarts of the pods" "0 0" \
    "$(kubectl get pods -l training.kubeflow.org/job-name=elastic -o jsonpath='{.items[*].status.containerStatuses[0].restartCount}')"
