/* What Kubernetes says of a body that is no JSON. Its servers are written in Go, and the sentences
 * of Go's decoder are part of their answers; clients and their users know them. Called for bodies
 * that base/json/json.h has refused already, so speed does not count. */
#ifndef TRAINYARD_KUBE_JSON_COMPLAINT_H
#define TRAINYARD_KUBE_JSON_COMPLAINT_H

#include "base/json/json.h"

/* "invalid character 'o' in literal null (expecting 'u')", "unexpected end of JSON input"; NULL if
 * Go finds nothing wrong with the text, which a limit of ours refused then. */
const char *kube_json_syntax_error(struct arena *arena, const char *text, size_t size);

/* "json: cannot unmarshal array into Go value of type …" */
char *kube_json_type_error(struct arena *arena, const struct json *value, const char *type);

#endif
