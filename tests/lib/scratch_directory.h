/* A temporary directory for a test program. make_directory() and remove_directory() are the setup
 * and the teardown of a group or of a single test. */
#ifndef TRAINYARD_TESTS_LIB_SCRATCH_DIRECTORY_H
#define TRAINYARD_TESTS_LIB_SCRATCH_DIRECTORY_H

#include "base/system/file.h"

#include <stdio.h>
#include <stdlib.h>

static char directory[64];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/trainyard-unit.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

#endif
