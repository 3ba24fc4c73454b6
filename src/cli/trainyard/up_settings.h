/* What a cluster keeps from one `up` to the next: its nodes and their size. */
#ifndef TRAINYARD_CLI_TRAINYARD_UP_SETTINGS_H
#define TRAINYARD_CLI_TRAINYARD_UP_SETTINGS_H

#include "cli/trainyard/state_dir.h"
#include "node/node.h"

/* As the options of `up` give them; NULL or "": as the last time. */
struct up_settings {
    const char *nodes;  /* "3", or "a,b" */
    const char *cpus;   /* of each node; "0": what the machine has */
    const char *memory; /* the same */
};

struct up_cluster {
    const char *const *node_names; /* NULL-terminated */
    struct node_size size;
};

/* The settings asked for, else those of the last time, else one node as large as the machine. What
 * is used is kept in the state directory. */
int up_settings_apply(struct arena *arena, const struct state_dir *state,
                      const struct up_settings *wanted, struct up_cluster *ret, struct err *err);

/* For the table of options: whether a text is an amount of cpus, or of memory. */
int up_settings_check_cpus(const char *text, struct err *err);
int up_settings_check_memory(const char *text, struct err *err);

#endif
