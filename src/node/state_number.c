/* Computes the number of a state directory; see state_number.h. */
#include "node/state_number.h"

#include "base/hash.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

uint64_t node_state_number(const char *state_dir)
{
    char real[PATH_MAX];
    const char *path = realpath(state_dir, real) ? real : state_dir;
    return hash_fnv1a(HASH_FNV_START, path, strlen(path));
}
