#!/bin/bash
# The commands in the top comments of the examples work, as an ordinary user on one cluster. The tests of the tutorials, test_tour.sh and
# test_unmodified.sh run the examples that are not here. examples/README.md names each example with a command that a test runs.
# Long: 114 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

echo "examples/README.md"
# Print the rows of the table as "DIRECTORY LINK COMMAND". Check each row, and that there is a row for each directory.
# shellcheck disable=SC2016 # the backquotes are those of the table
sed -n 's/^| \[\([a-z-]*\)\](\([^)]*\))[^|]*|[^|]*| `\([^`]*\)` |.*/\1 \2 \3/p' "$ROOT/examples/README.md" >"$SCRATCH/rows"
while read -r name link command; do
    file=$(cd "$ROOT/examples" && realpath --relative-to="$ROOT" "$link")
    grep -qE "^[ #]   \\$ $(printf '%s' "$command" | sed 's/[.[\*^$]/\\&/g')" "$ROOT/$file" ||
        fail "examples/README.md: '$command' of $name is not in $file"
    grep -qE "^ *tutorial_open $file\$" "$ROOT"/tests/integration/test_*.sh || fail "no test runs the commands of $file"
    [ -d "$ROOT/examples/$name" ] || fail "examples/README.md names '$name', which does not exist"
done <"$SCRATCH/rows"
for directory in "$ROOT"/examples/*/; do
    grep -q "^$(basename "$directory") " "$SCRATCH/rows" || fail "$directory is not in examples/README.md"
done

pods_of() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o name; }
has_pods() { [ "$(pods_of "$1" | wc -l)" = "$2" ]; }
# Waits for a line of a pod's log with one `logs -f` instead of polling: polling would take CPU time from the training.
says() { grep -qE -m1 -- "$2" <(kubectl logs -f "$1"); }
wait_to_say() { wait_until "$1 to say '$2'" says "$1" "$2"; }
accuracy() { sed -n 's/^test accuracy \([0-9.]*\).*/\1/p' <<<"$TYPED"; }
good() { awk -v accuracy="$1" 'BEGIN { exit !(accuracy > 0.5) }'; } # chance is 0.1

nodes_of() { # JOB-TYPE: prints the nodes on which the pods of this replica type ran
    kubectl get pods -l "training.kubeflow.org/job-name=${1%-*},training.kubeflow.org/replica-type=${1##*-}" \
        -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort | paste -sd ' '
}

become_ordinary_user
example_cluster_up --nodes 3

echo "--- classifier"
tutorial_open examples/classifier/tfjob.yaml
sed -i 's/--steps=120/--steps=60/' "$SCRATCH/tree/examples/classifier/tfjob.yaml"
tutorial_type 'kubectl get pods' classifier-worker-1
wait_to_say classifier-chief-0 '^step'
tutorial_type 'kubectl logs -f'
in_step=$(accuracy)
good "$in_step" || fail "test accuracy of chief and workers with synchronous training: '$in_step'"
tutorial_type 'kubectl wait'
assert_eq "the node of the chief" node-1 "$(nodes_of classifier-chief)"
assert_eq "the nodes of the workers" "node-2 node-3" "$(nodes_of classifier-worker)"
tutorial_done

echo "--- recommender"
tutorial_open examples/recommender/tfjob.yaml
tutorial_type 'kubectl get pods'
wait_to_say recommender-worker-0 'AUC'
tutorial_type 'kubectl logs -f'
auc=$(sed -n 's/.*AUC \([0-9.]*\).*/\1/p' <<<"$TYPED" | tail -1)
awk -v auc="$auc" 'BEGIN { exit !(auc > 0.8) }' || fail "AUC of the recommender: '$auc'"
tutorial_type 'kubectl wait'
progress=$(kubectl get tfjob recommender -o jsonpath='{.metadata.annotations.trainyard\.dev/progress}')
assert_contains "the last progress" "step 843/843, " "$progress"
assert_eq "the nodes of the parameter servers" "node-3 node-3" "$(nodes_of recommender-ps)"
assert_eq "the nodes of the workers" "node-1 node-2" "$(nodes_of recommender-worker)"
tutorial_done

echo "--- suspend"
tutorial_open examples/suspend/tfjob.yaml
tutorial_type 'kubectl apply'
wait_for_tfjob suspend Suspended
tutorial_type 'kubectl get tfjob,pods'
assert_contains "the state" Suspended "$TYPED"
assert_eq "pods of the suspended job" "" "$(pods_of suspend)"
tutorial_type 'kubectl patch'
wait_to_say suspend-worker-0 '^step'
tutorial_type 'kubectl patch'
wait_until "the pods of the suspended job to be deleted" has_pods suspend 0
wait_for_tfjob suspend Suspended
tutorial_type 'kubectl wait'
assert_contains "the log of worker 0 after the suspension" "resum" "$(kubectl logs suspend-worker-0)"
tutorial_done

echo "--- gang"
tutorial_open examples/gang/tfjob.yaml
# The PodGroup is deleted when the job ends. So the test cordons all nodes while it looks at the PodGroup.
for node in 1 2 3; do kubectl cordon "node-$node"; done
tutorial_type 'kubectl get podgroups,pods' podgroup.scheduling.x-k8s.io/gang 'pod/gang-worker-2 .*Pending'
for node in 1 2 3; do kubectl uncordon "node-$node"; done
tutorial_type 'kubectl logs'
assert_contains "the end" "step 20/20" "$TYPED"
tutorial_done

echo "--- dynamic-workers"
tutorial_open examples/dynamic-workers/tfjob.yaml
tutorial_type 'kubectl apply'
wait_to_say dynamic-ps-0 'workers: 2$'
tutorial_type 'kubectl scale'
wait_to_say dynamic-ps-0 'step [0-9]+ of 1200, workers: 4$'
config=$(kubectl get pod dynamic-worker-3 -o jsonpath="{.spec.containers[0].env[?(@.name=='TF_CONFIG')].value}")
assert_eq "the TF_CONFIG of the new worker" \
    '{"cluster":{"worker":{"3":"dynamic-worker-3.default.svc:2222"},"ps":["dynamic-ps-0.default.svc:2222","dynamic-ps-1.default.svc:2222"]},"task":{"type":"worker","index":3}}' "$config"
tutorial_type 'kubectl scale'
tutorial_type 'kubectl logs -f'
assert_contains "the removed worker" "worker 3 has gone" "$TYPED"
assert_contains "the last step" "step 1200 of 1200, workers: 2" "$TYPED"
tutorial_type 'kubectl wait'
assert_contains "the learnt weights" "weights are at most 0.0" "$TYPED"
tutorial_done

echo "--- distributed"
tutorial_open examples/distributed/tfjob.yaml
tutorial_type 'kubectl get pods' distributed-worker-{0..3} distributed-ps-{0..3}
wait_to_say distributed-worker-0 '^step'
tutorial_type 'kubectl logs -f'
together=$(accuracy)
good "$together" || fail "test accuracy of four workers and four parameter servers: '$together'"
tutorial_type 'kubectl wait'
tutorial_done

echo "--- mnist"
tutorial_open examples/mnist/tfjob.yaml
tutorial_type 'kubectl get pods' mnist-chief-0
wait_to_say mnist-chief-0 '^step'
tutorial_type 'kubectl logs -f'
chief=$(accuracy)
good "$chief" || fail "test accuracy of chief, workers and parameter server: '$chief'"
assert_contains "the export" "exported version" "$TYPED"
tutorial_type 'kubectl wait'
tutorial_done
echo "test accuracy: chief and two workers with synchronous training $in_step; AUC of the recommender $auc"
echo "test accuracy: four workers and four parameter servers $together; chief, workers and a parameter server $chief"
