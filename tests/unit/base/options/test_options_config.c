/* Tests aliases of an option, several environment variables, paths, and a config file: which value
 * takes precedence, and the error messages. */
#include "base/mem.h"
#include "base/options/options.h"
#include "base/system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct values {
    struct option_config config;
    bool plain;
    int64_t steps;
    double rate;
    const char *optimizer, *directory, *name;
    struct option_list labels, tags;
};

#define FIELD(name) .offset = offsetof(struct values, name)

static const struct option OPTIONS[] = {
    {.name = "config",
     .type = OPTION_CONFIG,
     FIELD(config),
     .environment = "TEST_CONFIG",
     .help = "file"},
    {.name = "plain", .type = OPTION_FLAG, FIELD(plain), .help = "plainly"},
    {.name = "steps",
     .type = OPTION_INT,
     FIELD(steps),
     .environment = "TEST_STEPS|TF_TEST_STEPS",
     .fallback = "10",
     .min = 1,
     .max = 1000,
     .help = "how many"},
    {.name = "learning-rate",
     .aliases = "lr|rate",
     .type = OPTION_REAL,
     FIELD(rate),
     .environment = "TF_TEST_RATE",
     .fallback = "0.5",
     .help = "how fast"},
    {.name = "optimizer",
     .type = OPTION_CHOICE,
     FIELD(optimizer),
     .choices = "adam|sgd",
     .fallback = "adam",
     .help = "which"},
    {.name = "model-dir",
     .aliases = "checkpoint-dir",
     .type = OPTION_PATH,
     FIELD(directory),
     .environment = "TEST_DIR",
     .help = "where"},
    {.name = "name", .type = OPTION_STRING, FIELD(name), .help = "name"},
    {.name = "label", .type = OPTION_LIST, FIELD(labels), .help = "labels"},
    {0},
};

static const struct command COMMAND = {
    .name = "fit", .options = OPTIONS, .values_size = sizeof(struct values)};

static char path[64];

/* Parses the words up to NULL. "@" stands for --config with the file. */
static int parse(struct values *values, struct err *err, ...)
{
    char *argv[16];
    const char **arguments = NULL;
    size_t count;
    int argc = 0;
    va_list words;
    va_start(words, err);
    for (char *word; (word = va_arg(words, char *));) {
        if (strcmp(word, "@") == 0)
            argv[argc++] = (char *)"--config";
        argv[argc++] = strcmp(word, "@") == 0 ? path : word;
    }
    va_end(words);
    int result = options_parse(&COMMAND, argc, argv, values, &arguments, &count, err);
    if (result == 0)
        free(arguments);
    return result;
}

static void write_config(const char *text)
{
    unlink(path); /* the file of an earlier call */
    snprintf(path, sizeof(path), "/tmp/test_options_config.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, text, strlen(text), NULL), 0);
    close(fd);
}

static int remove_config(void **state)
{
    unlink(path);
    path[0] = '\0';
    unsetenv("TEST_STEPS"), unsetenv("TF_TEST_STEPS"), unsetenv("TF_TEST_RATE");
    unsetenv("TEST_DIR"), unsetenv("TEST_CONFIG");
    return 0;
}

static void an_option_has_aliases(void **state)
{
    struct values values;
    assert_int_equal(parse(&values, NULL, "--lr", "0.25", "--checkpoint_dir=/a", NULL), 0);
    assert_true(values.rate == 0.25);
    assert_string_equal(values.directory, "/a");
    assert_int_equal(parse(&values, NULL, "--rate=2", "--model_dir", "/b", NULL), 0);
    assert_true(values.rate == 2);
    assert_string_equal(values.directory, "/b");
    struct err err = ERR_INIT;
    assert_int_equal(parse(&values, &err, "--lr", "fast", NULL), -ERR_USAGE);
    assert_non_null(strstr(err.message, "option '--learning-rate': "));
    /* A prefix of a name is rejected. */
    assert_int_equal(parse(&values, &err, "--l", "1", NULL), -ERR_USAGE);
    assert_int_equal(parse(&values, &err, "--lr|rate", "1", NULL), -ERR_USAGE);
}

static void the_first_set_variable_is_used(void **state)
{
    struct values values;
    struct err err = ERR_INIT;
    setenv("TF_TEST_STEPS", "7", 1);
    assert_int_equal(parse(&values, NULL, NULL), 0);
    assert_int_equal(values.steps, 7);
    setenv("TEST_STEPS", "8", 1);
    assert_int_equal(parse(&values, NULL, NULL), 0);
    assert_int_equal(values.steps, 8);
    setenv("TEST_STEPS", "", 1);
    setenv("TF_TEST_STEPS", "many", 1);
    assert_int_equal(parse(&values, &err, NULL), -ERR_USAGE);
    assert_non_null(strstr(err.message, "environment variable TF_TEST_STEPS: "));
}

static void service_variables_of_kubernetes_are_ignored(void **state)
{
    static const struct option NAMES[] = {{.name = "monitor",
                                           .type = OPTION_STRING,
                                           .environment = "TEST_MONITOR_PORT|TEST_MONITOR",
                                           .fallback = "off",
                                           .help = "where"},
                                          {0}};
    const struct command command = {.options = NAMES, .values_size = sizeof(char *)};
    static const struct {
        const char *port, *other, *expected;
    } ROWS[] = {
        {"tcp://10.96.0.7:9100", "", "off"},
        {"tcp://10.96.0.7:9100", "9200", "9200"},
        {"9100", "9200", "9100"},
        /* Kubernetes sets no variable of this name */
        {"", "tcp://10.96.0.7:9100", "tcp://10.96.0.7:9100"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        const char *value = NULL, **arguments = NULL;
        size_t count;
        setenv("TEST_MONITOR_PORT", ROWS[i].port, 1);
        setenv("TEST_MONITOR", ROWS[i].other, 1);
        assert_int_equal(options_parse(&command, 0, NULL, &value, &arguments, &count, NULL), 0);
        assert_string_equal(value, ROWS[i].expected);
        free(arguments);
    }
    unsetenv("TEST_MONITOR_PORT"), unsetenv("TEST_MONITOR");
}

static void a_url_is_rejected_as_a_path(void **state)
{
    static const char *const URLS[] = {"s3://bucket/a", "gs://bucket", "hdfs://host:1/x"};
    for (size_t i = 0; i < ARRAY_SIZE(URLS); i++) {
        struct values values;
        struct err err = ERR_INIT;
        assert_int_equal(parse(&values, &err, "--checkpoint-dir", URLS[i], NULL), -ERR_USAGE);
        _cleanup_free_ char *expected =
            mem_printf("option '--model-dir': '%s' is a URL, not a path: mount a volume (a "
                       "PersistentVolumeClaim) and give a path on it",
                       URLS[i]);
        assert_string_equal(err.message, expected);
    }
    struct values values;
    struct err err = ERR_INIT;
    assert_int_equal(parse(&values, &err, "--config", "s3://bucket/run.yaml", NULL), -ERR_USAGE);
    assert_non_null(strstr(err.message, "'--config': 's3://bucket/run.yaml' is a URL"));
    setenv("TEST_DIR", "s3://bucket", 1);
    assert_int_equal(parse(&values, &err, NULL), -ERR_USAGE);
    assert_non_null(strstr(err.message, "environment variable TEST_DIR: 's3://bucket' is a URL"));
}

static void a_url_is_rejected_as_a_path_argument(void **state)
{
    const char **arguments = NULL;
    size_t count;
    struct err err = ERR_INIT;
    char *argv[] = {(char *)"here", (char *)"s3://bucket"};
    struct command command = {.name = "copy", .arguments_max = 2};
    assert_int_equal(options_parse(&command, 2, argv, NULL, &arguments, &count, &err), 0);
    free(arguments);
    command.arguments_are_paths = true;
    assert_int_equal(options_parse(&command, 2, argv, NULL, &arguments, &count, &err), -ERR_USAGE);
    assert_non_null(strstr(err.message, "'s3://bucket' is a URL"));
}

static void a_config_file_sets_values(void **state)
{
    struct values values;
    write_config("# how to train\nsteps: 20\nlr: 1e-3\noptimizer: sgd\nplain: true\n"
                 "model_dir: /model\nname: \"007\"\nlabel: [a, 2]\n");
    assert_int_equal(parse(&values, NULL, "@", NULL), 0);
    assert_int_equal(values.steps, 20);
    assert_true(values.rate == 1e-3 && values.plain);
    assert_string_equal(values.optimizer, "sgd");
    assert_string_equal(values.directory, "/model");
    assert_string_equal(values.name, "007");
    assert_int_equal(values.labels.count, 2);
    assert_string_equal(values.labels.items[1], "2");
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *expected = mem_printf(
        "{\"config\":\"%s\",\"plain\":true,\"steps\":20,\"learning-rate\":0.001,"
        "\"optimizer\":\"sgd\",\"model-dir\":\"/model\",\"name\":\"007\",\"label\":[\"a\","
        "\"2\"]}",
        path);
    assert_string_equal(json_to_string(arena, options_to_json(arena, &COMMAND, &values, 0, 0)),
                        expected);
    options_release(&COMMAND, &values);
}

static void command_line_and_environment_override_the_file(void **state)
{
    struct values values;
    write_config("{\"steps\": 20, \"learning-rate\": 0.125, \"optimizer\": \"sgd\"}");
    setenv("TF_TEST_STEPS", "30", 1);
    setenv("TF_TEST_RATE", "0.75", 1);
    setenv("TEST_CONFIG", path, 1);
    assert_int_equal(parse(&values, NULL, "--lr", "0.25", NULL), 0);
    assert_true(values.rate == 0.25);             /* the command line */
    assert_int_equal(values.steps, 30);           /* the environment */
    assert_string_equal(values.optimizer, "sgd"); /* the file */
    assert_null(values.directory);                /* set nowhere */
    options_release(&COMMAND, &values);
}

static void an_empty_list_in_the_file_replaces_the_default(void **state)
{
    static const struct option TAG_OPTIONS[] = {
        {.name = "config", .type = OPTION_CONFIG, FIELD(config), .help = "file"},
        {.name = "tag", .type = OPTION_LIST, FIELD(tags), .fallback = "all", .help = "tags"},
        {0},
    };
    static const struct command TAGS = {
        .name = "tags", .options = TAG_OPTIONS, .values_size = sizeof(struct values)};
    static const struct {
        const char *text;
        size_t count;
    } ROWS[] = {{"{}\n", 1}, {"tag: []\n", 0}, {"tag: [a, b]\n", 2}};
    char *argv[] = {(char *)"--config", path};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct values values;
        const char **arguments = NULL;
        size_t count;
        write_config(ROWS[i].text);
        assert_int_equal(options_parse(&TAGS, 2, argv, &values, &arguments, &count, NULL), 0);
        assert_int_equal(values.tags.count, ROWS[i].count);
        free(arguments);
        options_release(&TAGS, &values);
    }
}

static void config_file_errors_have_a_position(void **state)
{
    static const struct {
        const char *text, *sentence;
    } ROWS[] = {
        {"steps: 20\nstep: 3\n", ":2:1: unknown option 'step': did you mean 'steps'?\n"
                                 "    step: 3\n"
                                 "    ^"},
        {"steps: 2000\n", ":1:8: 'steps': '2000' is "},
        {"steps: 2\nlr: fast\n", ":2:5: 'lr': 'fast' is not a number"},
        {"optimizer: best\n", ":1:12: 'optimizer': 'best' is not one of adam|sgd\n"
                              "    optimizer: best\n"
                              "               ^"},
        {"model-dir: s3://bucket\n", ":1:12: 'model-dir': 's3://bucket' is a URL"},
        {"lr: 1\nrate: 2\n", ":1:1: 'lr' and 'rate' are the same option"},
        {"steps:\n  of: 3\n", ":2:3: 'steps' takes a value, not an object"},
        {"steps: [1, 2]\n", ":1:8: 'steps' takes a value, not an array"},
        {"steps:\n", ":1:7: 'steps' takes a value, not null"},
        {"label: [a, {b: 1}]\n", ":1:12: 'label' takes a value, not an object"},
        {"{\"name\": \"\xc3\xa4\xc3\xb6\", \"lr\": \"x\"}\n",
         ":1:22: 'lr': 'x' is not a number\n"
         "    {\"name\": \"\xc3\xa4\xc3\xb6\", \"lr\": \"x\"}\n"
         "                         ^"},
        {"config: other.yaml\n", ":1:1: 'config' is not allowed in an options file"},
        {"- steps\n", "' must map options to values"},
        {"", "' must map options to values"},
        {"steps: 1\n---\nsteps: 2\n", "' must map options to values"},
        {"steps: {\n", path},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct values values;
        struct err err = ERR_INIT;
        write_config(ROWS[i].text);
        int result = parse(&values, &err, "@", NULL);
        if (result >= 0 || !strstr(err.message, ROWS[i].sentence))
            fail_msg("%s: '%s', not '%s'", ROWS[i].text, err.message, ROWS[i].sentence);
        unlink(path);
    }
    struct values values;
    struct err err = ERR_INIT;
    assert_int_equal(parse(&values, &err, "--config", "/nowhere/x.yaml", NULL), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nowhere/x.yaml"));
}

/* Each limit and one past it: bytes, values, depth. */
static void a_config_file_has_limits(void **state)
{
    enum { SIZE_MAX_ = 1 << 20, VALUES_MAX = 10000 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t more = 0; more <= 1; more++) {
        struct values values;
        struct err err = ERR_INIT;
        char *text = arena_alloc(arena, SIZE_MAX_ + 2);
        memset(text, '#', SIZE_MAX_ + more);
        text[SIZE_MAX_ + more] = '\0';
        memcpy(text, "steps: 20\n", 10);
        write_config(text);
        assert_int_equal(parse(&values, NULL, "@", NULL), more ? -ERR_TOO_LARGE : 0);
        if (!more)
            options_release(&COMMAND, &values);

        _cleanup_buf_ struct buf many;
        buf_init(&many, 1 << 20);
        buf_append_str(&many, "steps: [");
        /* The object, the name and the list count, too. */
        for (size_t i = 0; i < VALUES_MAX - 3 + more; i++)
            buf_append_str(&many, "1,");
        buf_append_str(&many, "]\n");
        write_config(many.data);
        assert_true(parse(&values, &err, "@", NULL) < 0);
        assert_int_equal(strstr(err.message, "more than 10000 values") != NULL, more);
        write_config(more ? "steps: [[[[[[[[1]]]]]]]]\n" : "steps: [[[[[[[1]]]]]]]\n");
        assert_true(parse(&values, &err, "@", NULL) < 0);
        assert_int_equal(strstr(err.message, "nested more than 8 levels deep") != NULL, more);
    }
}

static void help_lists_aliases_and_variables(void **state)
{
    static const struct command *const COMMANDS[] = {&COMMAND, NULL};
    static const struct program PROGRAM = {.name = "tool", .commands = COMMANDS};
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1 << 16);
    options_write_help(&PROGRAM, &COMMAND, &text);
    assert_non_null(strstr(text.data, "how fast (default 0.5; also --lr, --rate,"));
    assert_non_null(strstr(text.data, "TF_TEST_RATE)"));
    assert_non_null(strstr(text.data, "how many (default 10; also TEST_STEPS,"));
}

#define TEST(name) cmocka_unit_test_teardown(name, remove_config)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_option_has_aliases),
        TEST(the_first_set_variable_is_used),
        TEST(service_variables_of_kubernetes_are_ignored),
        TEST(a_url_is_rejected_as_a_path),
        TEST(a_url_is_rejected_as_a_path_argument),
        TEST(a_config_file_sets_values),
        TEST(command_line_and_environment_override_the_file),
        TEST(an_empty_list_in_the_file_replaces_the_default),
        TEST(config_file_errors_have_a_position),
        TEST(a_config_file_has_limits),
        TEST(help_lists_aliases_and_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
