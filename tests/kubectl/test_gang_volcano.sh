#!/bin/bash
# Gang scheduling by other schedulers: the operator runs as its own process beside an embedded cluster without an operator, with the
# PodGroups of Volcano and with those of the scheduler-plugins. The test plays both schedulers (tests/lib/gang.sh).
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
NAMESPACE=default
IMAGE=trainyard/tools
# shellcheck source=tests/lib/gang.sh
. "$ROOT/tests/lib/gang.sh"

cluster_up --nodes 1 --no-operator

echo "Volcano"
operator_start volcano
story_of_volcano
operator_stop

echo "the scheduler-plugins, under another scheduler name"
operator_start coscheduler
story_of_a_coscheduler "$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')"
