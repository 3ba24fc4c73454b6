#!/bin/bash
# tools/check-commit rejects wrong titles and bodies of commits, and works in a clone that does not contain its base commit.
. "$(dirname "$0")/../lib/lib.sh"

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost GIT_CONFIG_GLOBAL=/dev/null
repository=$SCRATCH/repository
git init -q -b main "$repository"
mkdir "$repository/tools"
cp "$ROOT/tools/check-commit" "$repository/tools"
cd "$repository" || exit
check() { tools/check-commit "$@" >"$SCRATCH/output" 2>&1; }
commit() { git commit -q --allow-empty -m "$1" "${@:2}"; }
said() { assert_contains 'check-commit' "$1" "$(cat "$SCRATCH/output")"; }

git add tools
commit 'This title is older than the rule.'
git rev-parse HEAD >"$SCRATCH/base"
base=$(cat "$SCRATCH/base")
sed -i "s/^BASE=.*/BASE=$base/" tools/check-commit
commit 'tools: name the base' -a
commit 'kube, engine: check large definitions in linear time' -m 'One look at each field is enough.'
check || fail "commits in the right form are rejected: $(cat "$SCRATCH/output")"
said 'commits: 2, 0 broken'

refused() { # WHY TITLE [BODY]
    commit "$2" ${3:+-m "$3"}
    ! check || fail "'$2' is accepted"
    said "$1"
    said 'commits: 3, 1 broken'
    git reset -q --hard HEAD~1
}
refused 'is not "module: verb object"' 'Fix the parser'
refused 'is not "module: verb object"' 'parser: Fix it'
refused 'is not "module: verb object"' 'parser:fix it'
refused 'ends with a full stop' 'parser: fix it.'
refused 'has 73 columns, more than 72' "parser: $(printf 'x%.0s' {1..65})"
refused 'a line of the body has 101 columns' 'parser: fix it' "$(printf 'x%.0s' {1..50}) $(printf 'x%.0s' {1..50})"
commit "$(printf 'parser: fix it\nat once')" --cleanup=verbatim
! check || fail 'a title of two lines is accepted'
git reset -q --hard HEAD~1
commit 'parser: fix it' -m "$(printf 'https://localhost/%.0s' {1..8})"
check || fail 'a long URL, which cannot be wrapped, is rejected'
check HEAD~2..HEAD~1 || fail 'a range of commits is rejected'
said 'commits: 1, 0 broken'

# A merge commit may have the title that git gives it.
git checkout -q -b side HEAD~1
commit 'side: add a line'
git merge -q --no-ff -m "Merge branch 'main'" main
check || fail "a merge is rejected: $(cat "$SCRATCH/output")"
git checkout -q main

# The oldest commit of a shallow clone may be older than the rule, so it is not checked. The other commits are.
git clone -q --depth 2 "file://$repository" "$SCRATCH/shallow"
cd "$SCRATCH/shallow" || exit
check || fail "a shallow clone is rejected: $(cat "$SCRATCH/output")"
said 'is not in this clone'
said 'commits: 1, 0 broken'
commit 'Fix the parser'
! check || fail 'a bad title in a shallow clone is accepted'
said 'commits: 2, 1 broken'

# A tree without a git repository, such as a release unpacked from an archive, passes.
mkdir "$SCRATCH/plain"
cp -r "$repository/tools" "$SCRATCH/plain"
cd "$SCRATCH/plain" || exit
GIT_CEILING_DIRECTORIES=$SCRATCH check || fail 'a tree without a git repository is rejected'
echo ok
