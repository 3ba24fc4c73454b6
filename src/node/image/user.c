/* Finds users of an image; see image/user.h. */
#include "node/image/user.h"

#include "base/buf.h"
#include "base/str.h"
#include "node/image/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS_MAX = 8, ID_MAX = INT32_MAX };

/* Returns the text of /etc/passwd or /etc/group, or "" if it cannot be opened: an image need not
 * list users. */
static const char *read_accounts(struct arena *arena, const char *root, const char *path)
{
    _cleanup_fd_ int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_fd_ int fd = -1;
    if (top < 0 || beneath_open_file(top, path, &fd, NULL) < 0)
        return "";
    char *text = arena_alloc(arena, IMAGE_ACCOUNTS_MAX + 1);
    size_t size = 0;
    for (ssize_t got;
         size < IMAGE_ACCOUNTS_MAX && (got = read(fd, text + size, IMAGE_ACCOUNTS_MAX - size)) > 0;)
        size += (size_t)got;
    text[size] = '\0';
    return text;
}

/* Finds the line whose first field is `wanted`, or whose third field is the same number, and splits
 * the line into fields. Returns false if there is no such line. */
static bool user_find_line(struct arena *arena, const char *text, const char *wanted,
                           char *ret_fields[FIELDS_MAX])
{
    int64_t number = -1, id;
    bool by_number = str_to_int64(wanted, 0, ID_MAX, &number, NULL) == 0;
    char *rest = arena_strdup(arena, text);
    for (char *line; (line = strsep(&rest, "\n"));) {
        size_t count = 0;
        memset(ret_fields, 0, FIELDS_MAX * sizeof(*ret_fields));
        for (char *field; count < FIELDS_MAX && (field = strsep(&line, ":"));)
            ret_fields[count++] = field;
        if (count < 3 || str_to_int64(ret_fields[2], 0, ID_MAX, &id, NULL) < 0)
            continue;
        if (str_eq(ret_fields[0], wanted) || (by_number && id == number))
            return true;
    }
    return false;
}

int image_user_find(struct arena *arena, const char *root, const char *text, struct image_user *ret,
                    struct err *err)
{
    char *user = arena_strdup(arena, text[0] ? text : "0"), *group = strchr(user, ':');
    char *fields[FIELDS_MAX];
    *ret = (struct image_user){.home = "/"};
    if (group)
        *group++ = '\0';
    if (user_find_line(arena, read_accounts(arena, root, "etc/passwd"), user, fields)) {
        (void)str_to_int64(fields[2], 0, ID_MAX, &ret->user, NULL);
        if (fields[3])
            (void)str_to_int64(fields[3], 0, ID_MAX, &ret->group, NULL);
        if (fields[5] && fields[5][0] == '/')
            ret->home = fields[5];
    } else if (str_to_int64(user, 0, ID_MAX, &ret->user, NULL) < 0) {
        return err_set(err, ERR_INVALID,
                       "the image runs as user '%s', who is not in its /etc/passwd: give the "
                       "container a runAsUser",
                       user);
    }
    if (str_is_empty(group))
        return 0;
    if (user_find_line(arena, read_accounts(arena, root, "etc/group"), group, fields))
        return str_to_int64(fields[2], 0, ID_MAX, &ret->group, err);
    if (str_to_int64(group, 0, ID_MAX, &ret->group, NULL) < 0)
        return err_set(err, ERR_INVALID,
                       "the image runs as group '%s', which is not in its /etc/group: give the "
                       "container a runAsGroup",
                       group);
    return 0;
}
