/* Reads and saves the settings that a cluster keeps from one `trainyard up` to the next: its nodes
 * and their size. */
#ifndef TRAINYARD_CLI_TRAINYARD_UP_SETTINGS_H
#define TRAINYARD_CLI_TRAINYARD_UP_SETTINGS_H

#include "cli/trainyard/state_dir.h"
#include "node/node.h"

/* Options of `trainyard up`. NULL or "" means the saved value, or the default if none is saved. */
struct up_settings {
    const char *nodes;  /* "3", or "a,b" */
    const char *cpus;   /* CPUs per node; "0": all CPUs of the machine */
    const char *memory; /* memory per node; "0": all memory of the machine */
};

/* The nodes that the options describe. */
struct up_cluster {
    const char *const *node_names; /* NULL-terminated */
    struct node_size size;
};

/* Sets *ret from the options. For options that are not given, uses the settings that were saved in
 * the state directory; the default is one node with all CPUs and memory of the machine. Saves the
 * given options. */
int up_settings_apply(struct arena *arena, const struct state_dir *state,
                      const struct up_settings *wanted, struct up_cluster *ret, struct err *err);

/* Checks the value of --cpus, for the option table. Returns 0 or -ERR_USAGE. */
int up_settings_check_cpus(const char *text, struct err *err);
/* Checks the value of --memory, for the option table. Returns 0 or -ERR_USAGE. */
int up_settings_check_memory(const char *text, struct err *err);

#endif
