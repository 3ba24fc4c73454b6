#!/bin/bash
# The commands of docs/tutorials/facenet.md work, as root and as an ordinary user: the pipeline from the labels of the nodes to the upload
# of a picture through port-forward, for which the right person is the first answer. As root, worker 2 is killed while it trains.
# Takes: host port 3000.
# Takes: node ports by their numbers.
# Takes: port 8987.
# Long: 104 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

NAMESPACE=kubeflow-user-example-com

pods_of() { kubectl get pods -n $NAMESPACE -l "pod-name=$1" -o "jsonpath={.items[*]$2}"; }
runs() { [[ " $(pods_of "$1" .status.phase) " == *" Running "* ]]; }
has_begun() { runs "$1" || succeeded "$1"; }
succeeded() { [[ " $(pods_of "$1" .status.phase) " == *" Succeeded "* ]]; }
says() { kubectl logs -n $NAMESPACE -l "pod-name=$1" --tail=-1 | finds "$2"; }

check() { # VICTIM or ""
    tutorial_open docs/tutorials/facenet.md
    tutorial_type 'kubectl get nodes'
    assert_contains "the labels" "disktype=worker-3" "$TYPED"
    tutorial_type 'kubectl get svc'
    for pair in pipeline-worker-1.*3000:30391/TCP pipeline-worker-2.*3000:30390/TCP pipeline-worker-3.*3000:30392/TCP; do
        grep -q "$pair" <<<"$TYPED" || fail "no $pair in: $TYPED"
    done
    tutorial_type 'kubectl get workflows'
    assert_contains "the workflow" triplet-training-pipeline- "$TYPED"
    for worker in 1 2 3; do wait_until "worker $worker" has_begun worker-$worker; done
    tutorial_type 'kubectl get pods --all-namespaces'
    nodes=$(for worker in 1 2 3; do pods_of worker-$worker .spec.nodeName; echo; done | tr '\n' ' ')
    assert_eq "the workers' nodes" "node-1 node-2 node-3 " "$nodes"
    if [ -n "$1" ]; then
        wait_until "some steps" says worker-1 '^step [1-9]'
        kill_in_pod "$(pods_of "$1" .metadata.name)" trainer -n $NAMESPACE || fail "no process of $1 to kill"
        wait_until "the others to report the lost worker" says worker-1 'lost worker 1'
        wait_until "the killed worker to join again" says worker-1 'going on after step .* with all 3 workers'
        assert_contains "the phase of the killed worker's first pod" Failed "$(pods_of "$1" .status.phase)"
    fi
    tutorial_type 'kubectl logs -f'
    assert_contains "the last step" "step 240/240" "$TYPED"
    assert_contains "the path of the report" "report: /persist-log/model/report.html" "$TYPED"
    for alarm in "but not its memory" "no face was found"; do
        [[ $TYPED != *"$alarm"* ]] || fail "worker 1 logs '$alarm': $TYPED"
    done
    wait_until "the prediction" succeeded model-prediction
    tutorial_type 'kubectl logs -n'
    grep -qE '^ada .* %' <<<"$TYPED" || fail "no accuracy of a person in: $TYPED"
    auc=$(sed -n 's/.*pair AUC \([0-9.]*\) with the model, \([0-9.]*\) with raw pixels.*/\1 \2/p' <<<"$TYPED")
    awk -v auc="$auc" 'BEGIN { split(auc, of); exit !(of[1] > 0.85 && of[1] > of[2]) }' || fail "AUC of model and pixels: '$auc'"
    wait_until "the pod of the web page" runs serving
    tutorial_type 'curl'
    assert_contains "the most similar person" '"nearest":[{"name":"gus"' "$TYPED"
    assert_contains "the number of detected faces" '"found":1' "$TYPED"
    tutorial_type 'trainyard down'
    tutorial_done
    echo "AUC of the model and of raw pixels: $auc${1:+, after $1 was killed}"
    as_user "$TRAINYARD" down --wipe
    CLUSTER_UP=no
}

check worker-2
if [ "$(id -u)" = 0 ]; then
    become_ordinary_user
    check ""
fi
