/* The settings that a cluster keeps from one `up` to the next: its nodes and their size. */
#ifndef TRAINYARD_CLI_TRAINYARD_UP_SETTINGS_H
#define TRAINYARD_CLI_TRAINYARD_UP_SETTINGS_H

#include "cli/trainyard/state_dir.h"
#include "node/node.h"

/* The options of `up`; NULL or "": as in the last `up`. */
struct up_settings {
    const char *nodes;  /* "3", or "a,b" */
    const char *cpus;   /* CPUs of each node; "0": all of the machine */
    const char *memory; /* memory of each node; "0": all of the machine */
};

struct up_cluster {
    const char *const *node_names; /* NULL-terminated */
    struct node_size size;
};

/* Applies the options, else the settings of the last `up`, else one node as large as the machine.
 * Saves them in the state directory. */
int up_settings_apply(struct arena *arena, const struct state_dir *state,
                      const struct up_settings *wanted, struct up_cluster *ret, struct err *err);

/* Checks for the option table: whether a text is an amount of CPUs, or of memory. */
int up_settings_check_cpus(const char *text, struct err *err);
int up_settings_check_memory(const char *text, struct err *err);

#endif
