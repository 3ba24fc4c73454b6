/* Shared by the files of base/options only. */
#ifndef TRAINYARD_BASE_OPTIONS_INTERNAL_H
#define TRAINYARD_BASE_OPTIONS_INTERNAL_H

#include "base/options/options.h"

/* Like options_parse(), but accepts --help and -h if `ret_help` is not NULL: then it sets
 * *ret_help, returns 0 and sets no other output. */
int options_parse_or_help(const struct command *command, int argc, char *const *argv, void *values,
                          const char ***ret_arguments, size_t *ret_count, bool *ret_help,
                          struct err *err);

/* The row with this name or alias, or NULL. '_' in the name counts as '-'. */
const struct option *options_find(const struct command *command, const char *name, size_t size);

/* Returns -ERR_USAGE for a name that no row has, with the nearest name as a suggestion. `prefix`
 * stands before the names in the message: "--". */
int options_refuse_unknown(const struct command *command, const char *prefix, const char *name,
                           size_t size, struct err *err);

/* Reads the config file and checks that every name in it is an option of the command. */
int options_config_read(const struct command *command, const char *path, struct option_config *ret,
                        struct err *err);
/* Gets the values that the config file has for an option, as texts, and the member they come from
 * (NULL: the file does not set the option). No text is NULL. Only a list has more than one. */
int options_config_get(const struct command *command, const struct option_config *config,
                       const struct option *option, const struct json **ret_member,
                       const char *const **ret_texts, size_t *ret_count, struct err *err);

/* Converts the text as the row demands and stores it in the option's field of `values`. The error
 * does not name the option. */
int options_store(const struct option *option, const char *text, void *values, struct err *err);

/* Refuses the URL of an object store: manifests of other programs name such URLs, but this program
 * reads only files. */
int options_check_path(const char *text, struct err *err);

/* Returns the names in "a|b", one per call. `at` starts as the whole text and becomes NULL after
 * the last name. */
bool options_next_name(const char **at, const char **ret, size_t *ret_size);

/* Appends the words that lead to a command, each after a space: " image add". Appends nothing if
 * the program does not have the command. */
void options_path(const struct program *program, const struct command *command, struct buf *buf);

/* Appends the part of a usage line that follows the command's path: "[OPTION…] FILE…". */
void options_write_arguments(const struct command *command, struct buf *buf);

/* Appends the sentence about an option's value: its help, choices, default and environment
 * variable. */
void options_write_sentence(const struct option *option, struct buf *buf);

/* The row itself; at the end of a table the first row of the table that continues it, or NULL. */
static inline const struct option *options_row(const struct option *row)
{
    while (row && !row->name)
        row = row->more;
    return row;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): what a macro declares cannot stand in parentheses */
#define OPTIONS_EACH(row, command)                                                                 \
    for (const struct option *row = options_row((command)->options); row;                          \
         row = options_row(row + 1))

#define COMMANDS_EACH(place, list)                                                                 \
    for (const struct command *const *place = (list); place && *place; place++)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
