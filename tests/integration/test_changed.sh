#!/bin/bash
# `tests/run --changed` chooses the right tests for the changed files, and compares with the right commit.
. "$(dirname "$0")/../lib/lib.sh"

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost GIT_CONFIG_GLOBAL=/dev/null
tree=$SCRATCH/tree
mkdir -p "$tree"/{src/{base,loop,kube/patch,cli,serve},include/trainyard,tests/{lib,sim,unit/{base,loop,kube,engine,cli,serve},kubectl},docs}
cp "$ROOT"/tests/run "$tree/tests"
cp "$ROOT"/tests/lib/{run_changed,changed_tests.py} "$tree/tests/lib"
cd "$tree" || exit
echo '#include "base/map.h"' | tee src/loop/loop.c src/kube/patch/patch.h >src/cli/up.c
echo '  #  include "kube/patch/patch.h"' >>src/cli/up.c
touch src/base/map.{c,h} src/loop/loop.h src/kube/patch/patch.c src/serve/page.c tests/sim/sim_node.c docs/README.md
touch tests/unit/{base,loop,kube,engine,cli,serve}/test_one.c
printf '#!/bin/bash\n' | tee tests/kubectl/test_jobs.sh >tests/kubectl/record
chmod +x tests/kubectl/test_jobs.sh
git init -q -b main .
git add .
git commit -qm 'tree: begin'
git checkout -qb topic

# Edit FILE…, compare the chosen tests with the lines on standard input, and undo the edits.
chosen_for() { # FILE…
    local file
    for file in "$@"; do echo >>"$file"; done
    diff - <(tests/run --changed --dry-run | sed '1d; /^file /d') || fail "a wrong choice for $*: '<' is missing, '>' is too much"
    git reset -q --hard
    git clean -qfd
}

chosen_for </dev/null
chosen_for src/base/map.c <<'END'
suite base
format src/base/map.c
later integration
later kubectl
END
# Modules that include a changed header directly are tested too. Modules that include it only through another header are not.
chosen_for src/kube/patch/patch.h <<'END'
suite cli
suite kube
format src/kube/patch/patch.h
later integration
later kubectl
END
chosen_for src/base/map.h <<'END'
suite base
suite cli
suite kube
suite loop
format src/base/map.h
later integration
later kubectl
END
chosen_for src/loop/loop.h src/serve/page.c <<'END'
suite loop
suite serve
format src/loop/loop.h
format src/serve/page.c
later integration
later kubectl
END
# A change of the engine also runs the simulations, which contain its controllers.
chosen_for tests/unit/kube/test_one.c tests/unit/engine/test_one.c <<'END'
suite engine
suite kube
sim
format tests/unit/engine/test_one.c
format tests/unit/kube/test_one.c
END
chosen_for tests/sim/sim_node.c <<'END'
sim
format tests/sim/sim_node.c
END
chosen_for tests/kubectl/test_jobs.sh tests/kubectl/record docs/README.md <<'END'
script tests/kubectl/test_jobs.sh
shell tests/kubectl/record
shell tests/kubectl/test_jobs.sh
END
# A script marked "Long" takes longer than `--changed` may take, so it is left for later.
printf '#!/bin/bash\n# Long: 90 s.\n' >tests/kubectl/test_exec.sh
chosen_for tests/kubectl/test_exec.sh <<'END'
shell tests/kubectl/test_exec.sh
later kubectl/test_exec.sh
END
# A new file counts, and so does a file of a folder without unit tests.
mkdir src/dash
chosen_for src/dash/page.c tests/unit/loop/test_new.c <<'END'
suite loop
format src/dash/page.c
format tests/unit/loop/test_new.c
later integration
later kubectl
END
# If all suites are chosen, single suites are not listed.
chosen_for meson.build src/loop/loop.c <<'END'
suite unit
format src/loop/loop.c
later integration
later kubectl
END
git rm -q src/kube/patch/patch.c tests/kubectl/test_jobs.sh
diff - <(tests/run --changed --dry-run | sed 1d) <<'END' || fail 'a wrong choice for deleted files'
file src/kube/patch/patch.c
file tests/kubectl/test_jobs.sh
suite kube
later integration
later kubectl
END
git reset -q --hard

# The base of the comparison is the commit given on the command line, else the upstream of the branch, else main. Commits on main after
# the fork point do not count.
echo >>src/serve/page.c
git commit -qam 'serve: change'
git checkout -q main
echo >>src/loop/loop.c
git commit -qam 'loop: change'
git checkout -q topic
files() { tests/run --changed --dry-run "$@" | sed -n 's/^file //p'; }
assert_eq 'changed since main' src/serve/page.c "$(files)"
assert_eq 'changed since HEAD' '' "$(files HEAD)"
assert_eq 'changed since the commit before' src/serve/page.c "$(files HEAD~1)"
git branch -q published
git branch -q --set-upstream-to=published
assert_eq 'changed since the upstream' '' "$(files)"
if message=$(tests/run --changed --dry-run nowhere 2>&1); then fail "the unknown commit 'nowhere' is accepted"; fi
assert_contains 'an unknown commit' "'nowhere' is not a commit" "$message"
echo ok
