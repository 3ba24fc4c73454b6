/* Finds programs of the machine below /tmp and /var/tmp. Each pod has a /tmp and a /var/tmp of its
 * own. To make a program or script of the machine visible in a pod, the planner mounts its entry of
 * the machine's /tmp read-only at the same path. `trainyard image add` and trainyard-step
 * (step/advice.c) use these functions to say which paths a pod does not see. */
#ifndef TRAINYARD_NODE_IMAGE_TMP_PROGRAM_H
#define TRAINYARD_NODE_IMAGE_TMP_PROGRAM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the directory above `path` that each pod has for itself, such as "/tmp" or "/run".
 * Returns NULL if there is no such directory. */
const char *image_hidden_in(const char *path);

/* Returns true if the file is named like a script, such as "train.py". */
bool image_is_script_name(const char *path);

/* Returns the entry of /tmp or /var/tmp that a pod needs for word `index` of a command:
 * "/tmp/project" for "/tmp/project/bin/train". The entry is needed if the word is the path of a
 * file, and the file is the program (index 0), is executable, or is named like a script. Returns
 * NULL for any other word, because "/tmp/model" may be a path that the program writes to. Also
 * returns NULL if the entry is a symbolic link. */
const char *image_tmp_program_entry(struct arena *arena, const char *word, size_t index);

#endif
