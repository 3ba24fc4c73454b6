/* Finds and replaces references in a workflow's texts: "{{inputs.parameters.x}}". Pure: the caller
 * resolves each reference. */
#ifndef TRAINYARD_PIPELINE_SPEC_TEXT_H
#define TRAINYARD_PIPELINE_SPEC_TEXT_H

#include "base/json/json.h"

enum {
    WORKFLOW_REFERENCE_MAX = 512,        /* bytes of a name, with the terminating zero */
    WORKFLOW_TEXT_MAX = 4 * 1024 * 1024, /* bytes of one text after expansion */
};

/* Returns the value of a reference, or NULL and sets an error that names the reference. The value
 * must be valid until the expansion ends. */
typedef const char *workflow_resolve(void *context, const char *reference, struct err *err);

/* Replaces the references of a text. A reference is "{{name}}", with optional white space around
 * the name, which consists of letters, digits and "._-". Other text in double braces may belong to
 * another language (a dictionary, a template) and is not changed. Expressions ("{{=…}}") are
 * rejected with -ERR_UNSUPPORTED. If `resolve` fails, returns -ERR_INVALID; if the result is too
 * long, -ERR_TOO_LARGE. For a text without "{{" *ret is `text` itself, otherwise a copy in the
 * arena. */
int workflow_text_expand(struct arena *arena, const char *text, workflow_resolve *resolve,
                         void *context, const char **ret, struct err *err);

/* Copies the tree with all its strings expanded. Member names are not expanded. Returns the same
 * errors as workflow_text_expand(). */
int workflow_tree_expand(struct arena *arena, const struct json *tree, workflow_resolve *resolve,
                         void *context, struct json **ret, struct err *err);

#endif
