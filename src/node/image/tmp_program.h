/* Finds programs of the machine below /tmp and /var/tmp. Each pod has its own /tmp and /var/tmp. To
 * make a program or script of the machine visible there, its entry of the machine's /tmp is mounted
 * read-only at the same path. Used when a pod is planned, and by `trainyard image add` to say which
 * paths a pod will not see. */
#ifndef TRAINYARD_NODE_IMAGE_TMP_PROGRAM_H
#define TRAINYARD_NODE_IMAGE_TMP_PROGRAM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the directory of `path` that each pod has for itself, such as "/tmp" or "/run". Returns
 * NULL if a pod sees the machine's file at that path, or if the path is not absolute. */
const char *image_hidden_in(const char *path);

/* Whether the file is named like a script, such as "train.py". */
bool image_is_script_name(const char *path);

/* Returns the entry of /tmp or /var/tmp that a pod needs for word `index` of a command:
 * "/tmp/project" for "/tmp/project/bin/train". A word needs an entry if it is the program (index 0)
 * or a script: an executable file, or a file named like a script. Returns NULL for any other word,
 * because "/tmp/model" may be a path that the program writes to. Also returns NULL if the entry is
 * a symbolic link. */
const char *image_tmp_program_entry(struct arena *arena, const char *word, size_t index);

#endif
