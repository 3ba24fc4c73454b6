/* Makes Kubernetes' error messages for a body that is not valid JSON. They are the messages of Go's
 * decoder, which clients may compare. The API server calls kube_json_syntax_error() only for bodies
 * that base/json/json.h has rejected, so speed does not matter. */
#ifndef TRAINYARD_KUBE_SCHEMA_JSON_SYNTAX_ERROR_H
#define TRAINYARD_KUBE_SCHEMA_JSON_SYNTAX_ERROR_H

#include "base/json/json.h"

/* Returns Go's message: "invalid character 'o' in literal null (expecting 'u')" or "unexpected end
 * of JSON input". Returns NULL if Go's decoder would accept the text, or if the text is nested too
 * deeply to check. Then the text exceeds a limit of this server or has invalid UTF-8. */
const char *kube_json_syntax_error(struct arena *arena, const char *text, size_t size);

/* Returns "json: cannot unmarshal array into Go value of type …". */
char *kube_json_type_error(struct arena *arena, const struct json *value, const char *type);

#endif
