/* The commands of `trainyard`, one file per command; main.c lists them. */
#ifndef TRAINYARD_CLI_TRAINYARD_COMMANDS_H
#define TRAINYARD_CLI_TRAINYARD_COMMANDS_H

#include "base/err.h"
#include "base/options/options.h"

#include <stddef.h>

extern const struct command COMMAND_UP, COMMAND_DOWN, COMMAND_STATUS, COMMAND_CHECK, COMMAND_IMAGE,
    COMMAND_PROCESS, COMMAND_OPERATOR;

/* Implements the internal command `trainyard probe-tls HOST` (probe_tls.c) and returns its exit
 * code. It is not in the list of commands, because only the supervisor of a pod runs it. */
int probe_tls(const char *host);

/* The row of the option --state, for every command that uses a state directory. `values` is the
 * command's struct, which has the member `const char *state`. */
#define OPTION_STATE(values)                                                                       \
    {                                                                                              \
        .name = "state", .type = OPTION_STRING, .offset = offsetof(values, state),                 \
        .environment = "TRAINYARD_STATE", .value = "DIR",                                          \
        .help = "where the cluster keeps its state (default: $XDG_STATE_HOME/trainyard, or "       \
                "~/.local/state/trainyard if XDG_STATE_HOME is not set)"                           \
    }

#endif
