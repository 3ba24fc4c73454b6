/* The references in a workflow's texts, "{{inputs.parameters.x}}", found and replaced. Pure: what a
 * reference stands for is the caller's answer. */
#ifndef TRAINYARD_PIPELINE_TEXT_H
#define TRAINYARD_PIPELINE_TEXT_H

#include "base/json/json.h"

enum {
    WORKFLOW_REFERENCE_MAX = 512,        /* bytes between the braces */
    WORKFLOW_TEXT_MAX = 4 * 1024 * 1024, /* of one text after expansion */
};

/* The value of a reference, NUL-terminated and alive as long as the expansion, or NULL with an
 * error that names it. */
typedef const char *workflow_resolve(void *context, const char *reference, struct err *err);

/* A reference is "{{name}}", white space around the name ignored, where the name is made of
 * letters, digits and "._-"; other things in double braces are text of a language of its own (a
 * dictionary, a template) and stay as they are. An expression ("{{=…}}") is refused. A text without
 * references is returned as it is. */
int workflow_text_expand(struct arena *arena, const char *text, workflow_resolve *resolve,
                         void *context, const char **ret, struct err *err);

/* A copy of the tree with all its strings expanded; the names of members stay. */
int workflow_tree_expand(struct arena *arena, const struct json *tree, workflow_resolve *resolve,
                         void *context, struct json **ret, struct err *err);

#endif
