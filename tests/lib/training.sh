# shellcheck shell=bash
# Functions that inspect training jobs, on any cluster that kubectl reaches. Source it after lib.sh. training_yaml.sh has the functions
# that write jobs.

JOB_KIND=${JOB_KIND:-TFJob} # the kind of the jobs in a test

pods_of() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o name | sort | tr '\n' ' '; }
has_pods() { [ "$(pods_of "$1")" = "$2" ]; }
services_of() { kubectl get services -l "training.kubeflow.org/job-name=$1" -o name | sort | tr '\n' ' '; }
has_services() { [ "$(services_of "$1")" = "$2" ]; }
phases_of() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o jsonpath='{.items[*].status.phase}'; }
has_phases() { [ "$(phases_of "$1")" = "$2" ]; }

# NAME CONDITION
wait_for_job() { wait_until "$JOB_KIND $1 to be $2" has_condition "$JOB_KIND/$1" "$2"; }
message_of() { kubectl get "$JOB_KIND" "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].message}"; }
host_ports_of() { kubectl get tfjob "$1" -o jsonpath='{.metadata.annotations.trainyard\.dev/host-ports}'; }
progress_of() { kubectl get tfjob "$1" -o jsonpath='{.metadata.annotations.trainyard\.dev/progress}'; }

# was_told NAME PART: whether an event of the object NAME contains PART.
was_told() {
    kubectl get events --field-selector "involvedObject.name=$1" \
        -o jsonpath='{range .items[*]}{.reason}: {.message}{"\n"}{end}' | finds -F -- "$2"
}
