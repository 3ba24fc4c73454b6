#!/bin/bash
# tools/setup prints what to do when packages are missing and cannot be installed. The package tools are fakes: nothing is installed.
# shellcheck disable=SC2016 # the fakes expand their own arguments
. "$(dirname "$0")/../lib/lib.sh"

bin=$SCRATCH/bin
mkdir "$bin"
fake() { # NAME LINE…
    local name=$1
    shift
    printf '%s\n' '#!/bin/sh' "$@" >"$bin/$name"
    chmod +x "$bin/$name"
}
# A machine with the usual tools, on which no Debian package is installed.
for tool in dirname tr mktemp rm tail grep cat env sed chmod mkdir; do ln -s "$(type -P $tool)" "$bin/$tool"; done
fake dpkg-query 'exit 0'
fake dpkg 'echo amd64'

setup() { # runs tools/setup, which must fail; its output goes to $SCRATCH/said
    ! PATH=$bin "$ROOT/tools/setup" build >"$SCRATCH/said" 2>&1 || fail "setup succeeds without packages: $(cat "$SCRATCH/said")"
}
expect() { # TEXT
    grep -qF -- "$1" "$SCRATCH/said" || fail "'$1' is missing in: $(cat "$SCRATCH/said")"
}

# An ordinary user without sudo gets the whole command line for root.
fake id 'echo 1000'
setup
expect 'As root, run:'
expect '    apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make meson'

# Root on a machine without DNS: the message names the cause, not only the package that was not found.
fake id 'echo 0'
fake apt-get 'case $1 in
update) echo "W: Failed to fetch a list: Temporary failure resolving a name"; exit 0 ;;
*) echo "E: Unable to locate package gcc"; exit 100 ;;
esac'
setup
expect 'setup: this machine cannot resolve the names'

fake apt-get '[ "$1" != update ] || exit 0
echo "E: You do not have enough free space: No space left on device"
exit 100'
setup
expect 'setup: the disk is full'

# After any other failure, tools/setup prints the error and the command to repeat it.
fake apt-get 'echo "E: something else"; exit 100'
setup
expect 'E: something else'
expect '    apt-get update && apt-get install -y --no-install-recommends gcc'
echo ok
