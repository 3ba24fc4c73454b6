# Replaces everything that differs from run to run by a placeholder. Widths of columns are removed, too: kubectl computes them from the
# values.
s/\x1b\[[0-9;]*m//g
s/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/UID/g
s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z/TIME/g
s/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+-][0-9]{4}/TIME/g
s/^((---|\+\+\+) [^ 	]*)[ 	]+[0-9]{4}-.*/\1/
s,/tmp/(LIVE|MERGED)-[0-9]+,\1,g
s,DIRECTORY/(LIVE|MERGED)-[0-9]+,\1,g
s/(resourceVersion\\?"?: ?)(\\?)"[0-9]+\\?"/\1\2"RV\2"/g
s/eyJ[A-Za-z0-9_.-]{40,}/TOKEN/g
s/\b10\.[0-9]+\.[0-9]+\.[0-9]+\b/IP/g
# Names that a server generates: the hash of a template, the suffix of a generated name.
s/\b([a-z0-9-]*web)-[bcdfghjklmnpqrstvwxz0-9]{8,10}(-[bcdfghjklmnpqrstvwxz0-9]{5})?\b/\1-HASH/g
s/(pod-template-hash"?[=:] ?"?)[bcdfghjklmnpqrstvwxz0-9]{8,10}\b/\1HASH/g
s/\b(made)-[bcdfghjklmnpqrstvwxz0-9]{5}\b/\1-NAME/g
s/\b(default|robot)-token-[bcdfghjklmnpqrstvwxz0-9]{5}\b/\1-token-NAME/g
# kubectl's own log: the line in its source, and errors about kinds that other cases changed meanwhile.
/^! .*couldn't get resource list for/d
# Newer kubectls sometimes log the end of a watch that they ended themselves.
/^! .*informerwatcher\.go/d
s/^! [IWEF][0-9]{4} [0-9:.]+ +[0-9]+ [a-z_]+\.go:[0-9]+\] /! LOG /
s/(Resource Version: +)[0-9]+$/\1RV/
# Values in Go's own notation, and Go's error messages for a wrong type: our decoder words them differently.
s/(value: )[][a-zA-Z0-9.&]*(\{.*\}|\(nil\))/\1VALUE/
/unknown conversion/!s/(patch: Invalid value: "\{.*\}": ).*/\1DETAIL/
/strict decoding error/!s/(cannot be handled as a [A-Za-z]+: ).*/\1DETAIL/
s/(continue key is not valid: ).*/\1DETAIL/
/^! \|\.\.\./d
# trainyard warns about fields that it accepts but ignores. A real server has no such warning.
/^! Warning: .*: not supported here: /d
# kubectl's advice after a conflict, in many lines.
/^! Please review the fields above--/,/^! See http/d
# Ages, alone or in a column, with or without "ago".
/^\$ |cpu: /!{
    s/([ (])[0-9]+(s|m|h|d|y|m[0-9]+s|h[0-9]+m|d[0-9]+h|y[0-9]+d)( ago)?( |\)|$)/\1AGE\4/g
    s/([ (])[0-9]+(s|m|h|d|y|m[0-9]+s|h[0-9]+m|d[0-9]+h|y[0-9]+d)( ago)?( |\)|$)/\1AGE\4/g
    s/^[0-9]+(s|m|h|d|y|m[0-9]+s|h[0-9]+m|d[0-9]+h|y[0-9]+d) /AGE /
}
# The width of columns. An indentation stays, because it has a meaning.
:columns
s/([^ ]) {3,}/\1  /
t columns
s/ +$//
