/* Writes and parses lists of control groups, one per line; see limits/cgroup.h. */
#include "node/limits/cgroup.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <string.h>

enum { TEXT_MAX = 64 * 1024 };

static void write_tree(const struct cgroup_tree *tree, struct buf *buf)
{
    buf_append_str(buf, tree->unified ? "2 " : "1 ");
    const char *separator = "";
    for (unsigned bit = 1; bit <= CGROUP_LAST; bit <<= 1) {
        if (tree->controllers & bit) {
            buf_printf(buf, "%s%s", separator, cgroup_controller_name(bit));
            separator = ",";
        }
    }
    buf_printf(buf, " %s\n", tree->directory);
}

static int parse_controllers(char *list, unsigned *ret, struct err *err)
{
    *ret = 0;
    for (char *word; list && *list && (word = strsep(&list, ","));) {
        unsigned bit = 1;
        while (bit <= CGROUP_LAST && !str_eq(word, cgroup_controller_name(bit)))
            bit <<= 1;
        if (bit > CGROUP_LAST)
            return err_set(err, ERR_INVALID, "'%.20s' is not a controller", word);
        *ret |= bit;
    }
    return 0;
}

static int parse_tree(char *text, struct cgroup_trees *trees, struct err *err)
{
    char *version = strsep(&text, " "), *list = strsep(&text, " ");
    struct cgroup_tree tree = {.unified = str_eq(version, "2"), .directory = text};
    if (!text || text[0] != '/' || (!tree.unified && !str_eq(version, "1")))
        return err_set(err, ERR_INVALID,
                       "invalid control group: expected VERSION CONTROLLERS /DIRECTORY");
    if (trees->count == CGROUP_TREES_MAX)
        return err_set(err, ERR_TOO_MANY, "more than %d control groups", CGROUP_TREES_MAX);
    int result = parse_controllers(list, &tree.controllers, err);
    if (result == 0)
        trees->items[trees->count++] = tree;
    return result;
}

void cgroup_trees_write(const struct cgroup_trees *trees, struct buf *buf)
{
    for (size_t i = 0; i < trees->count; i++)
        write_tree(&trees->items[i], buf);
}

int cgroup_trees_parse(char *text, struct cgroup_trees *ret, struct err *err)
{
    struct cgroup_trees trees = {0};
    for (char *line; (line = strsep(&text, "\n"));) {
        int result = *line ? parse_tree(line, &trees, err) : 0;
        if (result < 0)
            return result;
    }
    *ret = trees;
    return 0;
}

int cgroup_trees_store(const char *pod_directory, const struct cgroup_trees *trees, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/cgroups", pod_directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    cgroup_trees_write(trees, &text);
    return file_replace(path, text.data ? text.data : "", text.size, 0600, err);
}

int cgroup_trees_load(struct arena *arena, const char *pod_directory, struct cgroup_trees *ret,
                      struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/cgroups", pod_directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    *ret = (struct cgroup_trees){0};
    struct err missing = ERR_INIT;
    int result = file_read(path, &text, &missing);
    if (result == -ERR_NOT_FOUND)
        return 0; /* an older version has started the pod */
    if (result == 0)
        result = cgroup_trees_parse(arena_strndup(arena, text.data, text.size), ret, &missing);
    return result < 0 ? err_set(err, missing.code, "'%s': %s", path, missing.message) : 0;
}
