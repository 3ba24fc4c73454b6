# shellcheck shell=bash disable=SC2034 # the tests use them
# Runs a tutorial of docs/tutorials/, or the top comment of an example, as a test: it runs the commands of the document in their order, so
# that every command in it is tested. Source it after lib.sh.
#
#   tutorial_open docs/tutorials/NAME.md | examples/NAME/FILE.yaml
#   tutorial_type 'kubectl get pods' [LINE…]    run every command up to and including the next one that begins with this text; the
#                                       output of that command is in $TYPED. The command is repeated until its output matches every
#                                       LINE, a regular expression, because the cluster needs time to start pods
#   tutorial_done                       fail if a command was left out
#
# A command is a line "    $ COMMAND" of a document, or "#   $ COMMAND" of an example. An example needs a cluster that the test has
# started with example_cluster_up. A backslash at the end of a line continues the command on the next line, and a command that ends in
# <<END has the lines up to END as its input. All commands run in one shell, in a copy of the examples, as the user of the test. A command
# that ends in "&" runs in the background until tutorial_done. `kubectl`, `trainyard` and `trainer` are those of the build. The cluster is
# in ~/.local/state/trainyard, as for a reader, unless the test has started one before; only its port is a free one.

TUTORIAL_COMMANDS=()
TUTORIAL_NEXT=0
TYPED=
ENDED=

tutorial_open() { # FILE
    local line command='' end=''
    TUTORIAL=$1
    TUTORIAL_COMMANDS=()
    TUTORIAL_NEXT=0
    while IFS= read -r line; do
        if [ -n "$end" ]; then
            command+=$'\n'${line#    }
            [ "${line#    }" = "$end" ] || continue
            end=
        elif [ -n "$command" ]; then
            command+=$'\n'$line
        elif [[ $line == [\ #]'   $ '* ]]; then
            command=${line#?'   $ '}
        else
            continue
        fi
        [[ $command == *\\ ]] && continue
        if [[ $line =~ \<\<\'?([A-Z]+)\'?$ ]]; then
            end=${BASH_REMATCH[1]}
            continue
        fi
        TUTORIAL_COMMANDS+=("$command")
        command=
    done <"$ROOT/$1"
    [ ${#TUTORIAL_COMMANDS[@]} != 0 ] || fail "no command in '$1'"
    if [ "$CLUSTER_UP" = no ]; then
        TRAINYARD_STATE=$HOME/.local/state/trainyard
        KUBECONFIG=$TRAINYARD_STATE/kubeconfig
        CLUSTER_UP=yes
    fi
    # The user of the test may not be able to read the checkout.
    rm -rf "$SCRATCH/tree"
    mkdir "$SCRATCH/tree"
    cp -r "$ROOT/examples" "$SCRATCH/tree"
    [ ${#AS_USER[@]} = 0 ] || chown -R 65534:65534 "$SCRATCH/tree"
    coproc TUTORIAL_SHELL {
        cd "$SCRATCH/tree" &&
            as_user env -u TRAINYARD_STATE -u KUBECONFIG TRAINYARD_PORT=0 \
                PATH="$(dirname "$TRAINYARD"):$(dirname "$KUBECTL"):$PATH" bash 2>&1
    }
    TUTORIAL_PID=$TUTORIAL_SHELL_PID
}

# Start the cluster of the examples where a reader has it, with kubectl configured for it.
example_cluster_up() { # [OPTION…]
    TRAINYARD_STATE=$HOME/.local/state/trainyard
    KUBECONFIG=$TRAINYARD_STATE/kubeconfig
    cluster_up "$@"
    as_user mkdir "$HOME/.kube"
    as_user cp "$KUBECONFIG" "$HOME/.kube/config"
}

# Run one command in the tutorial's shell. Its output goes to $TYPED and the test's log, its exit code to $ENDED.
tutorial_run() { # COMMAND
    local line mark="--- typed ${RANDOM}${RANDOM}"
    echo "\$ $1"
    TYPED=
    ENDED="the end of the shell"
    printf '%s\nprintf "\\n%s %%d\\n" $?\n' "$1" "$mark" >&"${TUTORIAL_SHELL[1]}"
    while IFS= read -r line <&"${TUTORIAL_SHELL[0]}"; do
        if [[ $line == "$mark "* ]]; then
            ENDED=${line#"$mark "}
            break
        fi
        echo "$line"
        TYPED+=$line$'\n'
    done
    [ "$ENDED" = 0 ]
}

tutorial_shows() { # COMMAND LINE…
    local line
    tutorial_run "$1" || return
    for line in "${@:2}"; do
        grep -qE "$line" <<<"$TYPED" || return
    done
}

tutorial_type() { # BEGINNING [LINE…]
    local command
    while [ $TUTORIAL_NEXT -lt ${#TUTORIAL_COMMANDS[@]} ]; do
        command=${TUTORIAL_COMMANDS[TUTORIAL_NEXT]}
        TUTORIAL_NEXT=$((TUTORIAL_NEXT + 1))
        if [[ $command == "$1"* && $# -gt 1 ]]; then
            wait_until "'$command' to show ${*:2}" tutorial_shows "$command" "${@:2}"
            echo "\$ $command"
            echo "$TYPED"
            return
        fi
        tutorial_run "$command" || fail "'$command' of $TUTORIAL ended with $ENDED"
        [[ $command != "$1"* ]] || return 0
    done
    fail "$TUTORIAL has no further command that begins with '$1'"
}

tutorial_done() {
    [ $TUTORIAL_NEXT = ${#TUTORIAL_COMMANDS[@]} ] || fail "$TUTORIAL: this command was not run: ${TUTORIAL_COMMANDS[TUTORIAL_NEXT]}"
    # shellcheck disable=SC2016 # the tutorial's shell expands it
    printf 'kill $(jobs -p) 2>/dev/null; exit 0\n' >&"${TUTORIAL_SHELL[1]}"
    wait "$TUTORIAL_PID" || true
}
