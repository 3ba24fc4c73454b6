/* YAML 1.1 as kubectl reads it, into JSON trees with line marks. Aliases are expanded within the
 * node limit; a tag we do not know, a non-string key that JSON cannot hold or a limit passed is
 * refused with "source:line:column: what". */
#ifndef TRAINYARD_BASE_YAML_H
#define TRAINYARD_BASE_YAML_H

#include "base/json.h"

/* All documents of the text, in order, as one array; empty documents are left out. `source` is the
 * name used in errors ("job.yaml"). A `kind: List` is not unfolded here. */
int yaml_parse(struct arena *arena, const char *source, const char *text, size_t size,
               const struct json_limits *limits, struct json **ret_documents, struct err *err);

/* Block-style YAML that reads back as the same tree. */
void yaml_write(const struct json *json, struct buf *buf);

#endif
