/* The path to the value that validation currently checks: a linked list of names and list positions
 * on the stack. The path is formatted as text only when an error is reported. */
#ifndef TRAINYARD_KUBE_SCHEMA_PATH_H
#define TRAINYARD_KUBE_SCHEMA_PATH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum { SCHEMA_PATH_MAX = 4096 }; /* bytes; names and positions that do not fit are left out */

struct schema_path {
    const struct schema_path *parent;
    const char *name; /* the name of a member; "": a whole object; NULL: a list element */
    size_t position;  /* the position of a list element */
};

/* Appends the path to `buf`: spec.containers[0].name */
static inline void schema_path_write(const struct schema_path *path, struct buf *buf)
{
    if (!path)
        return;
    schema_path_write(path->parent, buf);
    if (!path->name)
        buf_printf(buf, "[%zu]", path->position);
    else if (path->name[0])
        buf_printf(buf, "%s%s", buf->size > 0 ? "." : "", path->name);
}

static inline const char *schema_path_text(struct arena *arena, const struct schema_path *path)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, SCHEMA_PATH_MAX);
    schema_path_write(path, &text);
    return arena_strdup(arena, text.data ? text.data : "");
}

#endif
