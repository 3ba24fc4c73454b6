/* Tests checkpoints: a written one can be read, a damaged, truncated or unfitting one is rejected
 * with a message, and old ones are removed. */
#include "random_floats.h"
#include "scratch_directory.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <zlib.h>

static struct params *params_of(int width)
{
    struct params *params = params_new();
    params_declare(params, "a.weights", (int[]){3, 3, 1, width}, PARAM_HE, 9);
    params_declare(params, "a.bias", (int[]){width, 1, 1, 1}, PARAM_ZERO, 0);
    assert_int_equal(params_allocate(params, NULL), 0);
    params_initialise(params, 5);
    return params;
}

static struct optimizer *optimizer_of(const struct params *params, enum optimizer_kind kind)
{
    struct optimizer *optimizer = optimizer_new(kind, 0, params);
    for (size_t i = 0; i < params->floats * (size_t)optimizer->slot_count; i++)
        optimizer->slots[i] = (float)i;
    return optimizer;
}

static void write_checkpoint(const char *path, const struct params *params,
                             const struct optimizer *optimizer, uint64_t step)
{
    struct arena *arena = arena_new();
    struct json *config = json_object(arena);
    json_set_int(arena, config, "imageSize", 48);
    struct checkpoint_info info = {.model = "face", .config = config, .step = step, .seed = 11};
    struct err err = ERR_INIT;
    if (checkpoint_write(path, params, optimizer, &info, &err) < 0)
        fail_msg("%s", err.message);
    arena_free(arena);
}

static void checkpoint_round_trip(void **state)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/one", directory);
    struct params *params = params_of(8), *other = params_of(8);
    struct optimizer *optimizer = optimizer_of(params, OPTIMIZER_ADAM),
                     *fresh = optimizer_new(OPTIMIZER_ADAM, 0, other);
    write_checkpoint(path, params, optimizer, 70);
    memset(other->values, 0, other->floats * sizeof(float));
    struct checkpoint *checkpoint = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(checkpoint_read(path, &checkpoint, &err), 0);
    assert_string_equal(checkpoint->info.model, "face");
    assert_int_equal(json_get_int(checkpoint->info.config, "imageSize", 0), 48);
    assert_int_equal(checkpoint->info.step, 70);
    assert_int_equal(checkpoint->info.seed, 11);
    assert_int_equal(checkpoint_restore(checkpoint, path, other, fresh, &err), 0);
    assert_memory_equal(other->values, params->values, params->floats * sizeof(float));
    assert_memory_equal(fresh->slots, optimizer->slots, 2 * params->floats * sizeof(float));
    checkpoint_free(checkpoint);
    optimizer_free(optimizer), optimizer_free(fresh), params_free(params), params_free(other);
}

static void other_parameter_shapes_are_rejected(void **state)
{
    char path[128], expected[512];
    snprintf(path, sizeof(path), "%s/two", directory);
    struct params *params = params_of(8), *other = params_of(16);
    write_checkpoint(path, params, NULL, 1);
    struct checkpoint *checkpoint = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(checkpoint_read(path, &checkpoint, &err), 0);
    assert_int_equal(checkpoint_restore(checkpoint, path, other, NULL, &err), -ERR_INVALID);
    snprintf(expected, sizeof(expected),
             "'%s': parameter 'a.weights' has shape 3×3×1×8, but 3×3×1×16 in this model", path);
    assert_string_equal(err.message, expected);
    struct optimizer *optimizer = optimizer_of(params, OPTIMIZER_SGD);
    assert_int_equal(checkpoint_restore(checkpoint, path, params, optimizer, &err), -ERR_INVALID);
    snprintf(expected, sizeof(expected),
             "'%s' has the state of optimizer 'none', but this run uses 'sgd'", path);
    assert_string_equal(err.message, expected);
    optimizer_free(optimizer);
    checkpoint_free(checkpoint);
    params_free(params), params_free(other);
}

/* A change of any byte is detected: magic, version, size and text of the header, padding, values,
 * slots, CRC. */
static void damaged_bytes_are_detected(void **state)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/three", directory);
    struct params *params = params_of(4);
    struct optimizer *optimizer = optimizer_of(params, OPTIMIZER_ADAM);
    write_checkpoint(path, params, optimizer, 1);
    struct buf file;
    buf_init(&file, 1 << 20);
    assert_int_equal(file_read(path, &file, NULL), 0);
    struct checkpoint *checkpoint = NULL;
    for (size_t at = 0; at < file.size; at++) {
        assert_int_equal(checkpoint_parse("x", file.data, at, &checkpoint, NULL), -ERR_BAD_REQUEST);
        file.data[at] ^= (char)(1 << at % 8);
        assert_int_equal(checkpoint_parse("x", file.data, file.size, &checkpoint, NULL),
                         -ERR_BAD_REQUEST);
        file.data[at] ^= (char)(1 << at % 8);
    }
    assert_int_equal(checkpoint_parse("x", file.data, file.size, &checkpoint, NULL), 0);
    checkpoint_free(checkpoint);
    buf_release(&file);
    optimizer_free(optimizer);
    params_free(params);
}

/* Files of a killed process are removed, damaged checkpoints are renamed, and nothing else is
 * touched. */
static void leftover_files_are_cleaned_up(void **state)
{
    static const struct {
        const char *name;
        bool stays;
    } FILES[] = {{"step-00000010.ckpt", true},         {"step-00000010.ckpt.aB3_x9", false},
                 {"step-00000020.ckpt.damaged", true}, {"step-x.ckpt.aB3_x9", true},
                 {"face.model.aB3_x9", true},          {"step-00000010.ckpt.txt", true}};
    char path[CHECKPOINT_PATH_MAX], models[128];
    snprintf(models, sizeof(models), "%s/order", directory);
    assert_int_equal(file_make_dirs(models, 0755, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(FILES); i++) {
        snprintf(path, sizeof(path), "%s/%s", models, FILES[i].name);
        assert_int_equal(file_write_atomic(path, "x", 1, 0644, NULL), 0);
    }
    checkpoint_sweep(models);
    for (size_t i = 0; i < ARRAY_SIZE(FILES); i++) {
        snprintf(path, sizeof(path), "%s/%s", models, FILES[i].name);
        assert_int_equal(file_exists(path), FILES[i].stays);
    }
    assert_int_equal(checkpoint_set_aside(models, 10, NULL), 0);
    uint64_t *steps;
    size_t count;
    assert_int_equal(checkpoint_list(models, &steps, &count, NULL), 0);
    assert_int_equal(count, 0);
    free(steps);
    snprintf(path, sizeof(path), "%s/step-00000010.ckpt.damaged", models);
    assert_true(file_exists(path));
    assert_int_equal(checkpoint_set_aside(models, 10, NULL), -ERR_NOT_FOUND);
    checkpoint_sweep("/nowhere/at/all");
}

static void only_the_newest_checkpoints_are_kept(void **state)
{
    struct params *params = params_of(4);
    char path[CHECKPOINT_PATH_MAX], models[128];
    snprintf(models, sizeof(models), "%s/many", directory);
    assert_int_equal(file_make_dirs(models, 0755, NULL), 0);
    for (uint64_t step = 90; step <= 120; step += 10) {
        checkpoint_path(models, step, path);
        write_checkpoint(path, params, NULL, step);
    }
    snprintf(path, sizeof(path), "%s/step-.ckpt.txt", models);
    assert_int_equal(file_write_atomic(path, "x", 1, 0644, NULL), 0);
    assert_int_equal(checkpoint_prune(models, 2, NULL), 0);
    uint64_t *steps;
    size_t count;
    assert_int_equal(checkpoint_list(models, &steps, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(steps[0], 120);
    assert_int_equal(steps[1], 110);
    assert_true(file_exists(path));
    free(steps);
    snprintf(path, sizeof(path), "%s/nowhere", directory);
    assert_int_equal(checkpoint_list(path, &steps, &count, NULL), 0);
    assert_int_equal(count, 0);
    free(steps);
    params_free(params);
}

static void unwritable_path_is_named(void **state)
{
    struct params *params = params_of(4);
    struct arena *arena = arena_new();
    struct checkpoint_info info = {.model = "face", .config = json_object(arena)};
    struct err err = ERR_INIT;
    assert_int_equal(checkpoint_write("/nowhere/at/all", params, NULL, &info, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.message, "cannot write '/nowhere/at/all': No such file or directory");
    arena_free(arena);
    params_free(params);
}

/* Parses a file without values whose header is `start`, padded with blanks to `size` bytes. */
static int parse_header(const char *start, size_t size, struct err *err)
{
    enum { PREFIX = 16, ALIGN = 64, TRAILER = 4 };
    size_t whole = (PREFIX + size + ALIGN - 1) / ALIGN * ALIGN + TRAILER;
    _cleanup_free_ char *file = mem_zalloc(whole);
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    uint32_t version = CHECKPOINT_VERSION, header = (uint32_t)size, crc;
    memcpy(file, "TYMODEL\n", 8);
    memcpy(file + 8, &version, sizeof(version));
    memcpy(file + 12, &header, sizeof(header));
    memset(file + PREFIX, ' ', size);
    memcpy(file + PREFIX, start, strlen(start));
    crc = (uint32_t)crc32_z(crc32(0, NULL, 0), (const Bytef *)file, whole - TRAILER);
    memcpy(file + whole - TRAILER, &crc, sizeof(crc));
    *err = ERR_INIT;
    return checkpoint_parse("x", file, whole, &checkpoint, err);
}

static void header_values_are_limited(void **state)
{
    static const char none[] = "{\"model\":\"m\",\"config\":{},\"floats\":0}";
    static const struct {
        const char *header, *complaint;
    } rows[] = {
        {"{\"model\":\"m\",\"config\":{},\"floats\":256000000}",
         "'x' holds 0 bytes of values, but its header says 1024000000"},
        {"{\"model\":\"m\",\"config\":{},\"floats\":256000001}",
         "'x' has an invalid header: 256000001 values and 0 optimizer slots"},
        {"{\"model\":\"m\",\"config\":{},\"floats\":1,\"slots\":2}",
         "'x' holds 0 bytes of values, but its header says 12"},
        {"{\"model\":\"m\",\"config\":{},\"floats\":1,\"slots\":3}",
         "'x' has an invalid header: 1 values and 3 optimizer slots"},
    };
    struct err err;
    if (parse_header(none, CHECKPOINT_HEADER_MAX, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(parse_header(none, CHECKPOINT_HEADER_MAX + 1, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "'x' is truncated");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_true(parse_header(rows[i].header, 200, &err) < 0);
        assert_string_equal(err.message, rows[i].complaint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoint_round_trip),
        cmocka_unit_test(other_parameter_shapes_are_rejected),
        cmocka_unit_test(damaged_bytes_are_detected),
        cmocka_unit_test(header_values_are_limited),
        cmocka_unit_test(leftover_files_are_cleaned_up),
        cmocka_unit_test(only_the_newest_checkpoints_are_kept),
        cmocka_unit_test(unwritable_path_is_named),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
