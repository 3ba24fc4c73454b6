#!/bin/bash
# The commands of the tour in README.md work, as an ordinary user: a TFJob trains a face model, and the web page of the model answers
# through port-forward.
# Takes: port 8987.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

page_answers() { curl -sf http://localhost:8987/about; }

become_ordinary_user
tutorial_open README.md
sed -i 's|--seed=1,|--seed=1, --steps=40,|' "$SCRATCH/tree/examples/face/tfjob.yaml"
tutorial_type 'kubectl get pods -o wide' 'face-worker-0 .*(Running|Completed)' face-worker-2
tutorial_type 'kubectl logs -f face-worker-0'
assert_contains "the last step" "step 40/40" "$TYPED"
tutorial_type 'kubectl apply -f examples/face/predict.yaml'
assert_contains "the evaluation" "pair AUC" "$TYPED"
tutorial_type 'kubectl port-forward'
wait_until "the page" page_answers
assert_contains "the gallery" "pictures of" "$(page_answers)"
tutorial_type 'trainyard down --wipe'
tutorial_done
CLUSTER_UP=no
