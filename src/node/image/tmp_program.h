/* Programs of the machine below /tmp and /var/tmp. Each pod has a /tmp and a /var/tmp of its own,
 * so a program or script that lies in the machine's is handed to the pod: its entry of /tmp is
 * mounted read-only at the same path. Used by the planner of pods, and by `trainyard image add` to
 * tell which paths a pod will not see. */
#ifndef TRAINYARD_NODE_IMAGE_HANDED_H
#define TRAINYARD_NODE_IMAGE_HANDED_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the directory of the machine that holds `path` and of which a pod has its own, such as
 * "/tmp" or "/run"; NULL if a pod sees the path, or if it is not absolute. */
const char *image_hidden_in(const char *path);

/* Whether the file is named like a program of an interpreter, such as "train.py". */
bool image_is_script_name(const char *path);

/* Returns the entry of /tmp or /var/tmp that word `index` of a command needs to be handed over:
 * "/tmp/project" for "/tmp/project/bin/train". A word needs it if it is the program (index 0), or a
 * script: an executable file, or one named like a script. Returns NULL for any other word:
 * "/tmp/model" may be a place that the program writes to. */
const char *image_tmp_program_entry(struct arena *arena, const char *word, size_t index);

#endif
