#!/bin/bash
# The commands of docs/your-program.md work, as root and as an ordinary user: the user's own program in a job, its results in a shared
# directory, a virtual environment, GPUs that do not exist, and images.

# Pods must see the HOME of the test. It must be outside of /tmp and /var/tmp, because pods have their own.
TMPDIR=$(cd "$(dirname "$0")/../../build" && pwd)
[ "$(id -u)" = 0 ] && TMPDIR=/srv # an ordinary user can read it too
export TMPDIR
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

# A fake `docker` whose `save` writes an image. The program of the image prints its version.
make_docker() {
    mkdir -p "$SCRATCH/docker"
    "$ROOT/tools/image" --name my/image:latest --output "$SCRATCH/docker/image.tar" --cmd --version "$TRAINYARD" >/dev/null
    # shellcheck disable=SC2016
    printf '#!/bin/sh\n[ "$*" = "save my/image" ] && exec cat "$(dirname "$0")/image.tar"\n' >"$SCRATCH/docker/docker"
    chmod -R a+rX "$SCRATCH/docker" && chmod 755 "$SCRATCH/docker/docker"
}

check() {
    make_docker
    tutorial_open docs/your-program.md
    # Debian's python3 must be the first in PATH: pods cannot see a python3 in the real home directory of the user who runs the tests,
    # because HOME is another directory here.
    tutorial_run "PATH=$SCRATCH/docker:$(dirname "$TRAINYARD"):$(dirname "$KUBECTL"):/usr/bin:\$PATH"
    tutorial_type 'kubectl get pytorchjob mine' 'mine +Succeeded'
    # The job succeeds when its master does. So the worker may still run, and the command is repeated until the log has the line.
    tutorial_type 'kubectl logs mine-worker-0' '^rank 1 of 2: .*/python3 wrote to /$'
    tutorial_type 'kubectl get pytorchjob keeps' 'keeps +Succeeded'
    tutorial_type 'ls ~/project/out' rank-0.txt rank-1.txt
    tutorial_type 'kubectl get pytorchjob venv' 'venv +Succeeded'
    tutorial_type 'kubectl logs venv-master-0'
    assert_contains "the virtual environment" "rank 0 of 2: $HOME/project/venv/bin/python3 wrote" "$TYPED"
    tutorial_type 'kubectl logs gpu' '^my GPU: [01]$'
    tutorial_type 'kubectl logs named' "^$HOME/project/venv\$"
    tutorial_type 'kubectl logs imported' "^$("$TRAINYARD" --version)\$"
    tutorial_type 'trainyard down --wipe'
    tutorial_done
    CLUSTER_UP=no
    rm -rf "$HOME/project"
}

check
become_ordinary_user
check
