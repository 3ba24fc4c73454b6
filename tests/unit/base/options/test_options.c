/* Tests the command line: the sources of a value, the error messages, and the texts made from the
 * table. */
#include "base/options/options.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct run_values {
    bool verbose;
    bool quiet;
    const char *state;
    int64_t nodes;
    double rate;
    const char *output;
    struct option_list labels;
};

static const struct option RUN_OPTIONS[] = {
    {.name = "verbose",
     .letter = 'v',
     .type = OPTION_FLAG,
     .offset = offsetof(struct run_values, verbose),
     .environment = "TEST_VERBOSE",
     .help = "say more"},
    {.name = "quiet",
     .letter = 'q',
     .type = OPTION_FLAG,
     .offset = offsetof(struct run_values, quiet),
     .help = "say less"},
    {.name = "state",
     .type = OPTION_STRING,
     .offset = offsetof(struct run_values, state),
     .environment = "TEST_STATE",
     .fallback = "/var/lib/state",
     .value = "DIR",
     .help = "where the state of the cluster is kept between two runs of this program"},
    {.name = "nodes",
     .letter = 'n',
     .type = OPTION_INT,
     .offset = offsetof(struct run_values, nodes),
     .fallback = "1",
     .environment = "TEST_NODES",
     .value = "COUNT",
     .min = 1,
     .max = 100,
     .help = "how many nodes"},
    {.name = "rate",
     .type = OPTION_REAL,
     .offset = offsetof(struct run_values, rate),
     .fallback = "0.5",
     .help = "learning rate"},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_CHOICE,
     .offset = offsetof(struct run_values, output),
     .choices = "text|json",
     .fallback = "text",
     .value = "FORMAT",
     .help = "how to print"},
    {.name = "label",
     .letter = 'l',
     .type = OPTION_LIST,
     .offset = offsetof(struct run_values, labels),
     .value = "KEY=VALUE",
     .help = "put a label on it"},
    {0},
};

static size_t seen_count;
static char seen_state[64];

static int run_run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    const struct run_values *run = values;
    seen_count = count;
    str_copy(seen_state, sizeof(seen_state), run->state);
    assert_null(arguments[count]);
    return 7;
}

static const struct command RUN = {
    .name = "run",
    .synonyms = "start|launch",
    .arguments = "FILE…",
    .summary = "run a job and wait for its end",
    .description =
        "First paragraph of it.\n\nSecond one, with a table:\n  a  b\n  c  d\nand an end.",
    .examples = "tool run job.yaml\ntool run -n 3 job.yaml",
    .options = RUN_OPTIONS,
    .values_size = sizeof(struct run_values),
    .arguments_min = 1,
    .arguments_max = 3,
    .run = run_run,
};

static int run_plain(const void *values, size_t count, const char *const *arguments,
                     struct err *err)
{
    if (str_eq(arguments[0], "wrong"))
        return err_set(err, ERR_NOT_FOUND, "no image '%s'", arguments[0]);
    seen_count = count;
    return 0;
}

static const struct command IMAGE_ADD = {.name = "add",
                                         .arguments = "NAME",
                                         .summary = "add an image",
                                         .arguments_min = 1,
                                         .arguments_max = 1,
                                         .run = run_plain};
static const struct command *const IMAGE_COMMANDS[] = {&IMAGE_ADD, NULL};
static const struct command IMAGE = {
    .name = "image", .summary = "the images of this machine", .subcommands = IMAGE_COMMANDS};
static const struct command *const COMMANDS[] = {&RUN, &IMAGE, NULL};
static const struct program PROGRAM = {.name = "tool",
                                       .summary = "a tool for tests",
                                       .description = "It does nothing.",
                                       .commands = COMMANDS,
                                       .companion = "other",
                                       .companion_commands = "get|rum"};

/* Parses the words up to NULL. */
static int parse(struct run_values *values, const char ***arguments, size_t *count, struct err *err,
                 ...)
{
    char *argv[16];
    int argc = 0;
    va_list words;
    va_start(words, err);
    while ((argv[argc] = va_arg(words, char *)))
        argc++;
    va_end(words);
    return options_parse(&RUN, argc, argv, values, arguments, count, err);
}

static void test_defaults(void **state)
{
    struct run_values values;
    const char **arguments;
    size_t count;
    assert_int_equal(parse(&values, &arguments, &count, NULL, "job.yaml", NULL), 0);
    assert_false(values.verbose);
    assert_string_equal(values.state, "/var/lib/state");
    assert_int_equal(values.nodes, 1);
    assert_true(values.rate == 0.5);
    assert_string_equal(values.output, "text");
    assert_int_equal(values.labels.count, 0);
    assert_int_equal(count, 1);
    assert_string_equal(arguments[0], "job.yaml");
    assert_null(arguments[1]);
    free(arguments);
    options_release(&RUN, &values);
}

static void test_every_form_of_an_option(void **state)
{
    struct run_values values;
    const char **arguments;
    size_t count;
    struct err err = ERR_INIT;
    int result =
        parse(&values, &arguments, &count, &err, "a", "--state", "dir", "-vq", "--nodes=3",
              "-ojson", "-l", "x=1", "--label=y=2", "--rate", "1e-3", "-", "--", "-v", NULL);
    assert_int_equal(result, 0);
    assert_true(values.verbose && values.quiet);
    assert_string_equal(values.state, "dir");
    assert_int_equal(values.nodes, 3);
    assert_true(values.rate == 1e-3);
    assert_string_equal(values.output, "json");
    assert_int_equal(values.labels.count, 2);
    assert_string_equal(values.labels.items[0], "x=1");
    assert_string_equal(values.labels.items[1], "y=2");
    assert_int_equal(count, 3);
    assert_string_equal(arguments[0], "a");
    assert_string_equal(arguments[1], "-");
    assert_string_equal(arguments[2], "-v");
    free(arguments);
    options_release(&RUN, &values);

    assert_int_equal(parse(&values, &arguments, &count, &err, "a", "-vn5", "-n=6",
                           "--state=", "--verbose=false", NULL),
                     0);
    assert_int_equal(values.nodes, 6); /* the last one counts */
    assert_string_equal(values.state, "");
    assert_false(values.verbose);
    free(arguments);
    options_release(&RUN, &values);
}

/* A single dash, as deployments write the options of a Go program. */
static void test_single_dash(void **state)
{
    struct command command = RUN;
    struct run_values values;
    const char **arguments = NULL;
    size_t count;
    struct err err = ERR_INIT;
    const char *const argv[] = {"-nodes=3", "-state", "/s",  "-verbose=true",
                                "-quiet",   "-l",     "a=b", "job"};

    command.single_dash = true;
    assert_int_equal(options_parse(&command, ARRAY_SIZE(argv), (char *const *)argv, &values,
                                   &arguments, &count, &err),
                     0);
    assert_int_equal(values.nodes, 3);
    assert_string_equal(values.state, "/s");
    assert_true(values.verbose && values.quiet);
    assert_string_equal(values.labels.items[0], "a=b");
    assert_int_equal(count, 1);
    free(arguments);
    options_release(&command, &values);

    const char *const wrong[] = {"-node=3", "job"};
    assert_int_equal(
        options_parse(&command, 2, (char *const *)wrong, &values, &arguments, &count, &err),
        -ERR_USAGE);
    assert_string_equal(err.message, "unknown option '--node': did you mean '--nodes'?");
}

static void test_environment(void **state)
{
    struct run_values values;
    const char **arguments;
    size_t count;
    struct err err = ERR_INIT;
    setenv("TEST_STATE", "/from/env", 1);
    setenv("TEST_VERBOSE", "Yes", 1);
    assert_int_equal(parse(&values, &arguments, &count, &err, "a", NULL), 0);
    assert_string_equal(values.state, "/from/env");
    assert_true(values.verbose);
    free(arguments);
    assert_int_equal(
        parse(&values, &arguments, &count, &err, "a", "--state=x", "--verbose=0", NULL), 0);
    assert_string_equal(values.state, "x");
    assert_false(values.verbose);
    free(arguments);
    setenv("TEST_STATE", "", 1); /* as if it were not set */
    assert_int_equal(parse(&values, &arguments, &count, &err, "a", NULL), 0);
    assert_string_equal(values.state, "/var/lib/state");
    free(arguments);
    setenv("TEST_NODES", "many", 1);
    assert_int_equal(parse(&values, &arguments, &count, &err, "a", NULL), -ERR_USAGE);
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.message,
                        "environment variable TEST_NODES: 'many' is not a whole number");
    unsetenv("TEST_STATE");
    unsetenv("TEST_VERBOSE");
    unsetenv("TEST_NODES");
}

static void test_invalid_command_lines(void **state)
{
    static const struct {
        const char *words[4];
        const char *message;
    } ROWS[] = {
        {{"a", "--stat"}, "unknown option '--stat': did you mean '--state'?"},
        {{"a", "--stat=x"}, "unknown option '--stat': did you mean '--state'?"},
        {{"a", "--something"}, "unknown option '--something'"},
        {{"a", "--help"}, "unknown option '--help'"},
        {{"a", "-vx"}, "unknown option '-x' in '-vx'"},
        {{"a", "--state"}, "option '--state' needs a value: --state DIR"},
        {{"a", "-n"}, "option '--nodes' needs a value: --nodes COUNT"},
        {{"a", "--nodes", "x"}, "option '--nodes': 'x' is not a whole number"},
        {{"a", "--nodes", "0"}, "option '--nodes': '0' is not between 1 and 100"},
        {{"a", "--rate", "fast"}, "option '--rate': 'fast' is not a number"},
        {{"a", "-o", "yaml"}, "option '--output': 'yaml' is not one of text|json"},
        {{"a", "-o", "tex"}, "option '--output': 'tex' is not one of text|json"},
        {{"a", "--verbose=maybe"}, "option '--verbose': 'maybe' is neither true nor false"},
        {{"-v"}, "1 argument is missing: FILE…"},
        {{"a", "b", "c", "d"}, "unexpected argument 'd'"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct run_values values;
        const char **arguments = (const char **)&values; /* must stay untouched */
        size_t count = 99;
        struct err err = ERR_INIT;
        char *argv[5] = {(char *)"-lx"}; /* a list that must be freed */
        int argc = 1;
        for (int j = 0; j < 4 && ROWS[i].words[j]; j++)
            argv[argc++] = (char *)ROWS[i].words[j];
        assert_int_equal(options_parse(&RUN, argc, argv, &values, &arguments, &count, &err),
                         -ERR_USAGE);
        assert_int_equal(err.code, ERR_USAGE);
        assert_string_equal(err.message, ROWS[i].message);
        assert_ptr_equal(arguments, &values);
        assert_int_equal(count, 99);
    }
}

/* Two commands share a table of options and the beginning of their struct of values. */
struct shared_values {
    int64_t side;
    const char *place;
};

struct own_values {
    struct shared_values shared;
    double part;
    double rate;
    bool plain;
};

static int check_place(const char *text, struct err *err)
{
    return str_eq(text, "here") ? 0 : err_set(err, ERR_USAGE, "'%s' is elsewhere", text);
}

static const struct option SHARED_OPTIONS[] = {
    {.name = "side",
     .type = OPTION_INT,
     .offset = offsetof(struct shared_values, side),
     .fallback = "32",
     .min = 16,
     .max = 128,
     .multiple_of = 16,
     .help = "of a picture"},
    {.name = "place",
     .type = OPTION_STRING,
     .offset = offsetof(struct shared_values, place),
     .environment = "TEST_PLACE",
     .fallback = "here",
     .check = check_place,
     .help = "of the picture"},
    {0},
};

static const struct option OWN_OPTIONS[] = {
    {.name = "part",
     .type = OPTION_REAL,
     .offset = offsetof(struct own_values, part),
     .fallback = "1",
     .range = {0, 1},
     .help = "from 0 to 1"},
    {.name = "rate",
     .type = OPTION_REAL,
     .offset = offsetof(struct own_values, rate),
     .fallback = "1",
     .range = {.min = 0, .max = 100, .above_min = true},
     .help = "above 0"},
    {.name = "plain",
     .type = OPTION_FLAG,
     .offset = offsetof(struct own_values, plain),
     .help = "as it is"},
    {.more = SHARED_OPTIONS},
};

static const struct option NO_OWN_OPTIONS[] = {{.more = SHARED_OPTIONS}};

static const struct command OWN = {.name = "own",
                                   .summary = "rows of two tables",
                                   .options = OWN_OPTIONS,
                                   .values_size = sizeof(struct own_values)};

static int parse_own(struct own_values *values, struct err *err, const char *word)
{
    const char **arguments = NULL;
    size_t count = 0;
    char *argv[] = {(char *)word};
    int result = options_parse(&OWN, word ? 1 : 0, argv, values, &arguments, &count, err);
    free(arguments);
    return result;
}

static void test_commands_share_an_option_table(void **state)
{
    struct own_values values;
    assert_int_equal(parse_own(&values, NULL, "--side=48"), 0);
    assert_int_equal(values.shared.side, 48);
    assert_string_equal(values.shared.place, "here");
    assert_true(values.part == 1);
    assert_int_equal(parse_own(&values, NULL, "--plain"), 0);
    assert_true(values.plain);
    assert_int_equal(values.shared.side, 32);
    const struct command none = {.name = "none",
                                 .summary = "no rows of its own",
                                 .options = NO_OWN_OPTIONS,
                                 .values_size = sizeof(struct shared_values)};
    const struct command *const commands[] = {&OWN, &none, NULL};
    const struct program program = {.name = "tool", .summary = "s", .commands = commands};
    for (size_t i = 0; i < 2; i++) {
        struct buf text;
        buf_init(&text, 1 << 16);
        options_write_help(&program, commands[i], &text);
        assert_non_null(strstr(text.data, "[OPTION…]"));
        assert_non_null(strstr(text.data, "Options:\n"));
        assert_non_null(strstr(text.data, "--side VALUE"));
        assert_int_equal(strstr(text.data, "--plain") != NULL, i == 0);
        buf_release(&text);
    }
}

static void test_values_out_of_range(void **state)
{
    static const struct {
        const char *word, *message; /* NULL: accepted */
    } ROWS[] = {
        {"--part=0", NULL},
        {"--part=1", NULL},
        {"--part=-0.1", "option '--part': '-0.1' is not between 0 and 1"},
        {"--part=1.1", "option '--part': '1.1' is not between 0 and 1"},
        {"--rate=100", NULL},
        {"--rate=1e-9", NULL},
        {"--rate=0", "option '--rate': '0' is not above 0"},
        {"--rate=101", "option '--rate': '101' is not between 0 and 100"},
        {"--side=50", "option '--side': '50' is not a multiple of 16"},
        {"--side=144", "option '--side': '144' is not between 16 and 128"},
        {"--place=there", "option '--place': 'there' is elsewhere"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct own_values values;
        struct err err = ERR_INIT;
        assert_int_equal(parse_own(&values, &err, ROWS[i].word), ROWS[i].message ? -ERR_USAGE : 0);
        assert_string_equal(err.message, ROWS[i].message ? ROWS[i].message : "");
    }
    struct own_values values;
    struct err err = ERR_INIT;
    setenv("TEST_PLACE", "there", 1);
    assert_int_equal(parse_own(&values, &err, NULL), -ERR_USAGE);
    assert_string_equal(err.message, "environment variable TEST_PLACE: 'there' is elsewhere");
    unsetenv("TEST_PLACE");
}

/* Runs options_main() with stdout and stderr captured in a temporary file. */
static int main_with(char *text, size_t size, ...)
{
    char *argv[16] = {(char *)"tool"};
    int argc = 1;
    va_list words;
    va_start(words, size);
    while ((argv[argc] = va_arg(words, char *)))
        argc++;
    va_end(words);
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    fflush(stderr);
    int out = dup(1), error = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    int code = options_main(&PROGRAM, "1.2.3", argc, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(error, 2);
    close(out);
    close(error);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return code;
}

static void test_main(void **state)
{
    char text[8192];
    assert_int_equal(main_with(text, sizeof(text), "run", "--state", "here", "a", "b", NULL), 7);
    assert_int_equal(seen_count, 2);
    assert_string_equal(seen_state, "here");
    assert_int_equal(main_with(text, sizeof(text), "image", "add", "x", NULL), 0);
    assert_int_equal(seen_count, 1);
    assert_int_equal(main_with(text, sizeof(text), "image", "add", "wrong", NULL),
                     err_info(ERR_NOT_FOUND)->exit_code);
    assert_string_equal(text, "tool: no image 'wrong'\n");
    assert_int_equal(main_with(text, sizeof(text), "--version", NULL), 0);
    assert_string_equal(text, "tool 1.2.3\n");

    assert_int_equal(main_with(text, sizeof(text), "runn", NULL), 2);
    assert_string_equal(text,
                        "tool: unknown command 'runn': did you mean 'run'?\ntry 'tool --help'\n");
    assert_int_equal(main_with(text, sizeof(text), "rum", NULL), 2);
    assert_string_equal(
        text, "tool: unknown command 'rum': did you mean 'other rum'?\ntry 'tool --help'\n");
    assert_int_equal(main_with(text, sizeof(text), "launch", NULL), 2);
    assert_string_equal(text,
                        "tool: unknown command 'launch': did you mean 'run'?\ntry 'tool --help'\n");
    assert_int_equal(main_with(text, sizeof(text), "image", "ad", NULL), 2);
    assert_string_equal(
        text, "tool image: unknown command 'ad': did you mean 'add'?\ntry 'tool image --help'\n");
    assert_int_equal(main_with(text, sizeof(text), "image", "add", NULL), 2);
    assert_string_equal(
        text, "tool image add: 1 argument is missing: NAME\ntry 'tool image add --help'\n");
    assert_int_equal(main_with(text, sizeof(text), NULL), 2);
    assert_non_null(strstr(text, "Usage: tool COMMAND"));
    assert_int_equal(main_with(text, sizeof(text), "image", NULL), 2);
    assert_non_null(strstr(text, "Usage: tool image COMMAND"));
}

static void test_help(void **state)
{
    char by_flag[8192], by_word[8192], text[8192];
    assert_int_equal(main_with(by_flag, sizeof(by_flag), "run", "-n", "3", "--help", NULL), 0);
    assert_int_equal(main_with(by_word, sizeof(by_word), "help", "run", NULL), 0);
    assert_string_equal(by_flag, by_word);
    assert_string_equal(
        by_flag,
        "Usage: tool run [OPTION…] FILE…\n"
        "\n"
        "run a job and wait for its end\n"
        "\n"
        "First paragraph of it.\n"
        "\n"
        "Second one, with a table:\n"
        "  a  b\n"
        "  c  d\n"
        "and an end.\n"
        "\n"
        "Options:\n"
        "  -v, --verbose               say more (also TEST_VERBOSE)\n"
        "  -q, --quiet                 say less\n"
        "      --state DIR             where the state of the cluster is kept between two\n"
        "                              runs of this program (default /var/lib/state; also\n"
        "                              TEST_STATE)\n"
        "  -n, --nodes COUNT           how many nodes (default 1; also TEST_NODES)\n"
        "      --rate VALUE            learning rate (default 0.5)\n"
        "  -o, --output FORMAT         how to print (text|json; default text)\n"
        "  -l, --label KEY=VALUE       put a label on it (may be given more than once)\n"
        "\n"
        "Examples:\n"
        "  tool run job.yaml\n"
        "  tool run -n 3 job.yaml\n");
    assert_int_equal(main_with(text, sizeof(text), "--help", NULL), 0);
    assert_non_null(strstr(text, "  image                       the images of this machine\n"));
    assert_int_equal(main_with(text, sizeof(text), "image", "--help", NULL), 0);
    assert_non_null(strstr(text, "  add                         add an image\n"));
    assert_int_equal(main_with(text, sizeof(text), "help", "image", "add", NULL), 0);
    assert_non_null(strstr(text, "Usage: tool image add NAME\n"));
    assert_int_equal(main_with(text, sizeof(text), "help", "nothing", NULL), 2);
    assert_int_equal(main_with(text, sizeof(text), "help", "--man", NULL), 0);
    assert_non_null(strstr(text, ".TH TOOL 1"));
    assert_int_equal(main_with(text, sizeof(text), "help", "--completion", "bash", NULL), 0);
    assert_non_null(strstr(text, "complete -o default -F"));
    assert_int_equal(main_with(text, sizeof(text), "help", "--completion", "csh", NULL), 2);
    assert_int_equal(main_with(text, sizeof(text), "run", "-h", NULL), 0);
    assert_string_equal(text, by_flag);
}

static void test_man(void **state)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 1 << 16);
    options_write_man(&PROGRAM, "1.2.3", &buf);
    assert_true(str_has_prefix(buf.data, ".TH TOOL 1 \"\" \"tool 1.2.3\" \"User Commands\"\n"));
    assert_non_null(strstr(buf.data, ".SS \"tool run [OPTION…] FILE…\"\n"));
    assert_non_null(strstr(buf.data, ".SS \"tool image add NAME\"\n"));
    assert_non_null(strstr(buf.data, ".TP\n\\fB\\-n\\fR, \\fB\\-\\-nodes\\fR \\fICOUNT\\fR\n"));
    assert_non_null(strstr(buf.data, "tool run \\-n 3 job.yaml\n"));
    assert_non_null(strstr(buf.data, ".TP\n\\fBTEST_STATE\\fR\n"));
}

/* Calls the completion script as bash does. */
static void complete(const char *words, int at, const char *expected)
{
    char path[] = "/tmp/completion.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 1 << 16);
    options_write_completion(&PROGRAM, "bash", &buf);
    buf_printf(&buf, "COMP_WORDS=(%s); COMP_CWORD=%d; _tool; echo \"${COMPREPLY[*]}\"\n", words,
               at);
    assert_true(write(fd, buf.data, buf.size) == (ssize_t)buf.size);
    close(fd);
    _cleanup_free_ char *command = mem_printf("bash %s", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char answer[512] = "";
    if (!fgets(answer, sizeof(answer), pipe))
        answer[0] = '\0';
    pclose(pipe);
    unlink(path);
    assert_string_equal(answer, expected);
}

static void test_completion(void **state)
{
    if (access("/bin/bash", X_OK) < 0)
        skip();
    complete("tool ''", 1, "run image help --help --version\n");
    complete("tool r", 1, "run\n");
    complete("tool run --st", 2, "--state\n");
    complete("tool run -o ''", 3, "text json\n");
    complete("tool run --output j", 3, "json\n");
    complete("tool image ''", 2, "add --help\n");
    complete("tool image add --", 3, "--help\n");
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 1 << 16);
    options_write_completion(&PROGRAM, "fish", &buf);
    assert_int_equal(buf.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_form_of_an_option),
        cmocka_unit_test(test_single_dash),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_invalid_command_lines),
        cmocka_unit_test(test_main),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_man),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_commands_share_an_option_table),
        cmocka_unit_test(test_values_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
