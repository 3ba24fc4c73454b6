/* Fuzzes the command line parser with a table of every option type. The words are either parsed or
 * rejected with a message, and nothing may leak. NUL bytes separate the words of the input. */
#include "base/options/options.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct values {
    bool flag;
    const char *string;
    int64_t whole;
    double real;
    const char *choice;
    struct option_list list;
    const char *path;
};

static const struct option OPTIONS[] = {
    {.name = "flag", .letter = 'f', .type = OPTION_FLAG, .offset = offsetof(struct values, flag)},
    {.name = "string",
     .letter = 's',
     .type = OPTION_STRING,
     .offset = offsetof(struct values, string)},
    {.name = "whole",
     .letter = 'w',
     .type = OPTION_INT,
     .offset = offsetof(struct values, whole),
     .min = -5,
     .max = 5},
    {.name = "real", .letter = 'r', .type = OPTION_REAL, .offset = offsetof(struct values, real)},
    {.name = "choice",
     .letter = 'c',
     .type = OPTION_CHOICE,
     .offset = offsetof(struct values, choice),
     .choices = "a|bc|d"},
    {.name = "list", .letter = 'l', .type = OPTION_LIST, .offset = offsetof(struct values, list)},
    {.name = "path",
     .aliases = "dir|d-i-r",
     .type = OPTION_PATH,
     .offset = offsetof(struct values, path)},
    {0},
};

static const struct command COMMAND = {
    .name = "fuzz", .options = OPTIONS, .values_size = sizeof(struct values), .arguments_max = 10};

enum { WORDS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size), *argv[WORDS_MAX];
    int argc = 0;
    for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    struct values values;
    const char **arguments;
    size_t count;
    struct err err = ERR_INIT;
    if (options_parse(&COMMAND, argc, argv, &values, &arguments, &count, &err) == 0) {
        if (count > 10 || values.whole < -5 || values.whole > 5)
            mem_panic("a limit was passed");
        free(arguments);
        options_release(&COMMAND, &values);
    } else if (err.code != ERR_USAGE || err.message[0] == '\0') {
        mem_panic("refused without a word");
    }
    free(text);
    return 0;
}
