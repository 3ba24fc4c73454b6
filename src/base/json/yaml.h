/* Parses YAML 1.1 like kubectl into JSON trees with lines and columns, and writes YAML. Aliases are
 * expanded within the limits. Besides text that is not YAML, these are errors: an unknown tag, an
 * undefined alias, a duplicate key in a mapping (unless the limits allow it), a key or value that
 * JSON cannot express, and an exceeded limit. An error message shows the place in the text; see
 * source.h. */
#ifndef TRAINYARD_BASE_JSON_YAML_H
#define TRAINYARD_BASE_JSON_YAML_H

#include "base/json/json.h"
#include "base/source.h"

/* Maximum number of values that all aliases together may expand to. Otherwise a text of a few lines
 * could become gigabytes. */
enum { YAML_ALIASED_MAX = 100 * 1000 };

/* Parses all documents of the text into one array, in their order. Empty and null documents are
 * skipped. A `kind: List` stays one document. If `limits` is NULL, the maxima of json.h apply. A
 * text that starts with '{' is parsed as JSON, and as YAML only if that fails. Returns 0, or
 * -ERR_BAD_REQUEST. */
int yaml_parse(struct arena *arena, const struct source *source, const struct json_limits *limits,
               struct json **ret_documents, struct err *err);

/* Writes YAML in block style. yaml_parse() turns it into a tree that json_equal() finds equal, if
 * all strings are valid UTF-8. */
void yaml_write(const struct json *json, struct buf *buf);

#endif
