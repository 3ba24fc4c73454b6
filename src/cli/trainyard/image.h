/* Declares the functions that the subcommands of `trainyard image` share. */
#ifndef TRAINYARD_CLI_TRAINYARD_IMAGE_H
#define TRAINYARD_CLI_TRAINYARD_IMAGE_H

#include "base/options/options.h"
#include "cli/trainyard/state_dir.h"

#include <stdint.h>

extern const struct command COMMAND_IMAGE_IMPORT, COMMAND_IMAGE_LIST;

enum { IMAGE_SIZE_TEXT = 32 };

/* Resolves the state directory and creates it if it is missing. */
int image_command_state(struct arena *arena, const char *given, struct state_dir *ret,
                        struct err *err);
/* Writes a size as other image tools do: "12.3MB". */
void image_command_size(int64_t bytes, char ret[IMAGE_SIZE_TEXT]);

#endif
