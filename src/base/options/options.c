/* Parses a command line according to a table of options; see options.h. Prints nothing. */
#include "base/options/options.h"

#include "base/mem.h"
#include "base/options/internal.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

struct parse {
    const struct command *command;
    void *values;
    uint64_t *given; /* bit set with one bit per row: the option is on the command line */
    bool *ret_help;
    VEC(const char *) arguments;
    struct err *err;
};

/* Stores a value. An error message starts with `source`, which names where the value comes from. */
static int store_from(struct parse *parse, const struct option *option, const char *text,
                      const char *source)
{
    if (options_store(option, text, parse->values, parse->err) == 0)
        return 0;
    err_wrap(parse->err, "%s", source);
    if (parse->err)
        parse->err->code = ERR_USAGE;
    return -ERR_USAGE;
}

/* Returns the number of the option's row in the command's tables. */
static size_t row_of(const struct parse *parse, const struct option *option)
{
    size_t row = 0;
    OPTIONS_EACH (other, parse->command) {
        if (other == option)
            break;
        row++;
    }
    return row;
}

static int store_given(struct parse *parse, const struct option *option, const char *text)
{
    size_t row = row_of(parse, option);
    _cleanup_free_ char *source = mem_printf("option '--%s'", option->name);
    parse->given[row / 64] |= UINT64_C(1) << row % 64;
    return store_from(parse, option, text, source);
}

static bool is_given(const struct parse *parse, const struct option *option)
{
    size_t row = row_of(parse, option);
    return parse->given[row / 64] >> row % 64 & 1;
}

/* Returns whether the variable is a service link: Kubernetes sets NAME_PORT=tcp://… in pods for
 * each Service NAME. */
static bool is_service_link(const char *name, const char *text)
{
    return str_has_suffix(name, "_PORT") && strstr(text, "://");
}

/* Sets the option from the first of its environment variables that is not empty and no service
 * link. Returns 1 if there is one, 0 if there is none, or a negative error. */
static int store_environment(struct parse *parse, const struct option *option)
{
    const char *names = option->environment, *piece;
    for (size_t size; options_next_name(&names, &piece, &size);) {
        _cleanup_free_ char *name = mem_strndup(piece, size);
        _cleanup_free_ char *source = mem_printf("environment variable %s", name);
        const char *text = getenv(name);
        if (str_is_empty(text) || is_service_link(name, text))
            continue;
        int result = store_from(parse, option, text, source);
        return result < 0 ? result : 1;
    }
    return 0;
}

/* Sets the option from the config file. Returns 1 if the file has the option, 0 if it does not, or
 * a negative error. */
static int store_config(struct parse *parse, const struct option_config *config,
                        const struct option *option)
{
    const char *const *texts;
    const struct json *member = NULL;
    size_t count;
    int result =
        options_config_get(parse->command, config, option, &member, &texts, &count, parse->err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        const char *name = arena_printf(config->arena, "'%s'", member->name);
        result = store_from(parse, option, texts[i], name);
        if (result < 0)
            source_err_wrap(parse->err, &config->source, source_value_place(member));
    }
    return result < 0 ? result : member != NULL;
}

/* Reads the config file, if the command has an OPTION_CONFIG and a path is given. Must run before
 * other options are set from the file. */
static int open_config(struct parse *parse, struct option_config **ret)
{
    OPTIONS_EACH (option, parse->command) {
        if (option->type != OPTION_CONFIG)
            continue;
        int result = is_given(parse, option) ? 0 : store_environment(parse, option);
        *ret = (void *)((char *)parse->values + option->offset);
        if (result >= 0 && (*ret)->path)
            result = options_config_read(parse->command, (*ret)->path, *ret, parse->err);
        return result < 0 ? result : 0;
    }
    return 0;
}

/* Sets the options that are not on the command line from the environment, else from the config
 * file, else from the defaults. */
static int store_others(struct parse *parse)
{
    struct option_config *config = NULL;
    int result = open_config(parse, &config);
    if (result < 0)
        return result;
    OPTIONS_EACH (option, parse->command) {
        if (option->type == OPTION_CONFIG || is_given(parse, option))
            continue;
        result = store_environment(parse, option);
        if (result == 0 && config && config->values)
            result = store_config(parse, config, option);
        if (result < 0)
            return result;
        if (result == 0 && option->fallback &&
            options_store(option, option->fallback, parse->values, NULL) < 0)
            mem_panic("option '%s' has a bad default '%s'", option->name, option->fallback);
    }
    return 0;
}

int options_refuse_unknown(const struct command *command, const char *prefix, const char *name,
                           size_t size, struct err *err)
{
    _cleanup_free_ char *word = mem_strndup(name, size);
    VEC(const char *) names = {0};
    OPTIONS_EACH (option, command)
        vec_push(&names, option->name);
    const char *nearest = str_nearest(word, names.items, names.count);
    vec_release(&names);
    if (nearest)
        return err_set(err, ERR_USAGE, "unknown option '%s%s': did you mean '%s%s'?", prefix, word,
                       prefix, nearest);
    return err_set(err, ERR_USAGE, "unknown option '%s%s'", prefix, word);
}

/* Compares names, with '_' equal to '-': training programs for TensorFlow have options such as
 * --model_dir. */
static bool option_name_is(const char *known, size_t known_size, const char *name, size_t size)
{
    if (known_size != size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (known[i] != (name[i] == '_' ? '-' : name[i]))
            return false;
    return true;
}

const struct option *options_find(const struct command *command, const char *name, size_t size)
{
    OPTIONS_EACH (option, command) {
        if (option_name_is(option->name, strlen(option->name), name, size))
            return option;
        const char *aliases = option->aliases, *alias;
        for (size_t alias_size; options_next_name(&aliases, &alias, &alias_size);)
            if (option_name_is(alias, alias_size, name, size))
                return option;
    }
    return NULL;
}

static const struct option *find_letter(const struct command *command, char letter)
{
    OPTIONS_EACH (option, command)
        if (option->letter == letter)
            return option;
    return NULL;
}

static int fail_no_value(const struct parse *parse, const struct option *option)
{
    return err_set(parse->err, ERR_USAGE, "option '--%s' needs a value: --%s %s", option->name,
                   option->name, option->value ? option->value : "VALUE");
}

/* take_long() and take_letters() return the number of consumed words (1 or 2), or a negative
 * error. */
static int take_long(struct parse *parse, const char *name, const char *next)
{
    const char *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const struct option *option = options_find(parse->command, name, size);
    if (!option && parse->ret_help && str_eq(name, "help")) {
        *parse->ret_help = true;
        return 1;
    }
    if (!option)
        return options_refuse_unknown(parse->command, "--", name, size, parse->err);
    bool takes_next = !equals && option->type != OPTION_FLAG;
    if (takes_next && !next)
        return fail_no_value(parse, option);
    const char *text = equals ? equals + 1 : takes_next ? next : "true";
    int result = store_given(parse, option, text);
    return result < 0 ? result : 1 + takes_next;
}

static int take_letters(struct parse *parse, const char *word, const char *next)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *option = find_letter(parse->command, *letter);
        if (!option && parse->ret_help && *letter == 'h') {
            *parse->ret_help = true;
            return 1;
        }
        if (!option)
            return err_set(parse->err, ERR_USAGE, "unknown option '-%c' in '%s'", *letter, word);
        if (option->type == OPTION_FLAG) {
            int result = store_given(parse, option, "true");
            if (result < 0)
                return result;
            continue;
        }
        /* The value is the rest of this word, or the next word if the rest is empty. */
        bool takes_next = letter[1] == '\0';
        if (takes_next && !next)
            return fail_no_value(parse, option);
        const char *rest = letter[1] == '=' ? letter + 2 : letter + 1;
        int result = store_given(parse, option, takes_next ? next : rest);
        return result < 0 ? result : 1 + takes_next;
    }
    return 1;
}

static int options_check_arguments(const struct parse *parse)
{
    const struct command *command = parse->command;
    size_t count = parse->arguments.count;
    if (count < command->arguments_min)
        return err_set(parse->err, ERR_USAGE, "%zu argument%s missing: %s",
                       command->arguments_min - count,
                       command->arguments_min - count == 1 ? " is" : "s are",
                       command->arguments ? command->arguments : "see --help");
    if (count > command->arguments_max)
        return err_set(parse->err, ERR_USAGE, "unexpected argument '%s'",
                       parse->arguments.items[command->arguments_max]);
    int result = 0;
    for (size_t i = 0; command->arguments_are_paths && result == 0 && i < count; i++)
        result = options_check_path(parse->arguments.items[i], parse->err);
    return result;
}

static int take_words(struct parse *parse, int argc, char *const *argv)
{
    bool only_arguments = false;
    for (int i = 0; i < argc;) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        int taken = 1;
        if (only_arguments || word[0] != '-' || word[1] == '\0')
            vec_push(&parse->arguments, word);
        else if (str_eq(word, "--"))
            only_arguments = true;
        else if (word[1] == '-')
            taken = take_long(parse, word + 2, next);
        else if (parse->command->single_dash && word[2])
            taken = take_long(parse, word + 1, next);
        else
            taken = take_letters(parse, word, next);
        if (taken < 0 || (parse->ret_help && *parse->ret_help))
            return taken < 0 ? taken : 0;
        i += taken;
    }
    int result = options_check_arguments(parse);
    return result < 0 ? result : store_others(parse);
}

int options_parse_or_help(const struct command *command, int argc, char *const *argv, void *values,
                          const char ***ret_arguments, size_t *ret_count, bool *ret_help,
                          struct err *err)
{
    size_t rows = 0;
    OPTIONS_EACH (option, command)
        rows++;
    _cleanup_free_ uint64_t *given = mem_calloc(rows / 64 + 1, sizeof(*given));
    struct parse parse = {
        .command = command, .values = values, .given = given, .ret_help = ret_help, .err = err};
    if (command->values_size)
        memset(values, 0, command->values_size);
    int result = take_words(&parse, argc, argv);
    if (result < 0 || (ret_help && *ret_help)) {
        options_release(command, values);
        vec_release(&parse.arguments);
        return result;
    }
    vec_push(&parse.arguments, NULL);
    *ret_arguments = parse.arguments.items;
    *ret_count = parse.arguments.count - 1;
    return 0;
}

int options_parse(const struct command *command, int argc, char *const *argv, void *values,
                  const char ***ret_arguments, size_t *ret_count, struct err *err)
{
    return options_parse_or_help(command, argc, argv, values, ret_arguments, ret_count, NULL, err);
}

void options_release(const struct command *command, void *values)
{
    OPTIONS_EACH (option, command) {
        void *target = (char *)values + option->offset;
        if (option->type == OPTION_LIST) {
            struct option_list *list = target;
            free(list->items);
            *list = (struct option_list){0};
        } else if (option->type == OPTION_CONFIG) {
            struct option_config *config = target;
            arena_free(config->arena);
            *config = (struct option_config){0};
        }
    }
}
