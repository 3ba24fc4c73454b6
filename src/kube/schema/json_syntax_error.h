/* Makes Kubernetes' error messages for a body that is not valid JSON. They are the messages of Go's
 * decoder, which clients may compare. Called only for bodies that base/json/json.h has rejected, so
 * speed does not matter. */
#ifndef TRAINYARD_KUBE_SCHEMA_JSON_SYNTAX_ERROR_H
#define TRAINYARD_KUBE_SCHEMA_JSON_SYNTAX_ERROR_H

#include "base/json/json.h"

/* Returns Go's message: "invalid character 'o' in literal null (expecting 'u')" or "unexpected end
 * of JSON input". Returns NULL if the text is valid for Go, so that it was rejected because of a
 * limit of this server. */
const char *kube_json_syntax_error(struct arena *arena, const char *text, size_t size);

/* Returns "json: cannot unmarshal array into Go value of type …". */
char *kube_json_type_error(struct arena *arena, const struct json *value, const char *type);

#endif
