/* YAML 1.1 as kubectl reads it, into JSON trees with line marks. Aliases are expanded within the
 * limits; a tag we do not know, a key that stands twice in a mapping (unless the limits allow it),
 * a non-string key that JSON cannot hold or a limit passed is refused as source.h shows it:
 * "source:line:column: what" and the line. */
#ifndef TRAINYARD_BASE_YAML_H
#define TRAINYARD_BASE_YAML_H

#include "base/json/json.h"
#include "base/source.h"

/* Values that aliases may stand for, in all: a text of a few lines must not become gigabytes. */
enum { YAML_ALIASED_MAX = 100 * 1000 };

/* All documents of the text, in order, as one array; empty documents are left out. A `kind: List`
 * is not unfolded here. `limits` may be NULL. */
int yaml_parse(struct arena *arena, const struct source *source, const struct json_limits *limits,
               struct json **ret_documents, struct err *err);

/* Block-style YAML that reads back as the same tree. */
void yaml_write(const struct json *json, struct buf *buf);

#endif
