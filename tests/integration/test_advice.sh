#!/bin/bash
# When a program fails because a pod sees other files than the machine does, the pod gets an event that says what to do. As root and as
# an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

pod() { # NAME COMMAND-AS-YAML
    kubectl create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: trainyard/tools, command: $2}
YAML
}
events() { # POD REASON
    kubectl get events --field-selector "involvedObject.name=$1,reason=$2,type=Warning" -o jsonpath='{range .items[*]}{.message}{"\n"}{end}'
}
has_event() { events "$1" "$2" | finds -F -- "$3"; }
gets() { # POD REASON TEXT
    wait_until "pod $1 to get the event $2 with '$3'" has_event "$@"
}

DATA=$(mktemp /tmp/trainyard-test.XXXXXX) # below /tmp, even if TMPDIR is another directory
clean_up() { rm -f "$DATA"; }
chmod 644 "$DATA"

check() {
    cluster_up
    as_user tee "$SCRATCH/script" >/dev/null <<<'#!/no/such/python'
    as_user chmod 755 "$SCRATCH/script"
    as_user tee "$SCRATCH/plain.py" >/dev/null <<<'print(1)'
    pod closed '[python3, -c, "open(\"/usr/out\", \"w\")"]'
    pod hidden "[sh, -c, 'cat $DATA']"
    pod shebang "[$SCRATCH/script]"
    pod forbidden "[$SCRATCH/plain.py]"
    pod nowhere '[sh, -c, conda activate mine]'
    pod module '[python3, -c, import no_such_module]'
    pod fine '[sh, -c, "echo Read-only file system: /usr/out"]'
    gets closed ReadOnlyPath "cannot write to '/usr/out': pods see the files of this machine read-only; write to the working directory"
    gets hidden HiddenPath "does not find '$DATA': pods have a '/tmp' of their own"
    gets shebang Failed "its first line names the interpreter '/no/such/python', which does not exist in the pod"
    gets forbidden Failed "it is not executable; run 'chmod +x' on it, or name an interpreter before it"
    gets nowhere MissingProgram "there is no program 'conda' in the PATH of the container"
    gets module MissingModule "has no module 'no_such_module': if a virtual environment has it"
    wait_for_phase fine Succeeded
    assert_eq "advice for a program that succeeded" "" "$(events fine ReadOnlyPath)"
    assert_eq "events of one failure" 1 "$(events closed ReadOnlyPath | wc -l)"
    cluster_wipe
    rm -f "$SCRATCH/script" "$SCRATCH/plain.py"
}

check
become_ordinary_user
check
