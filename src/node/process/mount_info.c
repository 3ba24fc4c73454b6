/* Finds the other paths at which a file is mounted; see process/mount_info.h. */
#include "node/process/mount_info.h"

#include "base/str.h"

#include <stdbool.h>
#include <string.h>

char *mount_info_unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; to++) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
            at[3] >= '0' && at[3] <= '7') {
            *to = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
            at += 4;
        } else {
            *to = *at++;
        }
    }
    *to = '\0';
    return text;
}

/* One mount of the table. */
struct mount_row {
    const char *device; /* "8:1" */
    const char *root;   /* the path of the mounted directory in its file system */
    const char *point;  /* the mount point */
};

/* Parses a line of the form ID PARENT DEVICE ROOT MOUNT-POINT …. */
static bool read_row(struct arena *arena, const char *line, size_t size, struct mount_row *ret)
{
    char *fields[5], *rest = arena_strndup(arena, line, size);
    for (size_t i = 0; i < 5; i++)
        if (!(fields[i] = strsep(&rest, " ")))
            return false;
    *ret = (struct mount_row){fields[2], mount_info_unescape(fields[3]),
                              mount_info_unescape(fields[4])};
    return ret->root[0] == '/' && ret->point[0] == '/';
}

/* Returns the part of `path` below `directory`: "/…", or "" if they are equal. Returns NULL if
 * `path` is not below `directory`. */
static const char *mount_info_path_below(const char *path, const char *directory)
{
    size_t size = str_eq(directory, "/") ? 0 : strlen(directory);
    bool is_below = strncmp(path, directory, size) == 0 && (!path[size] || path[size] == '/');
    return is_below ? path + size : NULL;
}

static const char *mount_info_join_paths(struct arena *arena, const char *directory,
                                         const char *rest)
{
    return arena_printf(arena, "%s%s", str_eq(directory, "/") ? "" : directory, rest);
}

/* Reads the next valid row of the text. Returns false at the end. */
static bool next_row(struct arena *arena, const char **text, struct mount_row *ret)
{
    while (**text) {
        const char *line = *text;
        size_t size = strcspn(line, "\n");
        *text += size + (line[size] == '\n');
        if (read_row(arena, line, size, ret))
            return true;
    }
    return false;
}

void mount_info_aliases(struct arena *arena, const char *mountinfo, const char *path,
                        struct pod_strings *ret)
{
    struct mount_row row, holder = {0};
    /* Finds the mount that contains the path: the deepest mount above it. If several mounts have
     * the same mount point, it is the last one, which covers the others. */
    for (const char *text = mountinfo; next_row(arena, &text, &row);)
        if (mount_info_path_below(path, row.point) &&
            (!holder.point || strlen(row.point) >= strlen(holder.point)))
            holder = row;
    if (!holder.point)
        return;
    const char *inside =
        mount_info_join_paths(arena, holder.root, mount_info_path_below(path, holder.point));
    for (const char *text = mountinfo; next_row(arena, &text, &row);) {
        const char *rest =
            str_eq(row.device, holder.device) ? mount_info_path_below(inside, row.root) : NULL;
        const char *alias = rest ? mount_info_join_paths(arena, row.point, rest) : path;
        if (!str_eq(alias, path))
            pod_strings_add(arena, ret, alias);
    }
}
