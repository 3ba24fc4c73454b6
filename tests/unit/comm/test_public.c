/* The public interface as a program outside uses it: a process alone, and errors as values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <trainyard/comm.h>

static struct ty_comm *open_alone(void)
{
    struct ty_tf_config *config = NULL;
    struct ty_comm *comm = NULL;
    struct ty_error error;
    assert_int_equal(ty_tf_config_parse("", &config, &error), 0);
    assert_true(ty_tf_config_is_chief(config));
    assert_int_equal(ty_comm_open(config, NULL, &comm, &error), 0);
    ty_tf_config_free(config);
    return comm;
}

static void a_process_alone_needs_no_network(void **state)
{
    struct ty_comm *comm = open_alone();
    struct ty_error error;
    assert_int_equal(ty_comm_rank(comm), 0);
    assert_int_equal(ty_comm_size(comm), 1);
    float sum[2] = {1, 2}, all[2] = {0, 0};
    assert_int_equal(ty_comm_allreduce_sum_f32(comm, sum, 2, &error), 0);
    assert_true(sum[0] == 1 && sum[1] == 2);
    assert_int_equal(ty_comm_broadcast(comm, sum, sizeof(sum), &error), 0);
    assert_int_equal(ty_comm_allgather(comm, sum, sizeof(sum), all, &error), 0);
    assert_memory_equal(all, sum, sizeof(sum));
    assert_int_equal(ty_comm_barrier(comm, &error), 0);
    ty_comm_close(comm);
    ty_comm_close(NULL);
}

static void errors_have_a_code_and_a_sentence(void **state)
{
    struct ty_tf_config *config = NULL;
    struct ty_error error = {0};
    assert_int_equal(ty_tf_config_parse("{\"cluster\":{\"worker\":[\"a\"]}}", &config, &error),
                     -TY_ERROR_INVALID);
    assert_int_equal(error.code, TY_ERROR_INVALID);
    assert_string_equal(error.message, "TF_CONFIG: worker 0: 'a' has no port: write host:port");
    assert_null(config);
    assert_int_equal(ty_tf_config_parse("[", &config, NULL), -TY_ERROR_INVALID);
}

static void a_group_refuses_what_it_cannot_do(void **state)
{
    struct ty_tf_config *config = NULL;
    struct ty_comm *comm = NULL;
    struct ty_error error = {0};
    assert_int_equal(ty_tf_config_parse("", &config, &error), 0);
    const struct ty_comm_options many = {.channels = 9};
    assert_int_equal(ty_comm_open(config, &many, &comm, &error), -TY_ERROR_INVALID);
    assert_string_equal(error.message, "9 channels: between 1 and 8 are possible");
    ty_tf_config_free(config);
    assert_int_equal(ty_tf_config_from_flags("p:1", "w:1", "ps", 0, &config, &error), 0);
    assert_int_equal(ty_comm_open(config, NULL, &comm, &error), -TY_ERROR_UNSUPPORTED);
    assert_null(comm);
    ty_tf_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_alone_needs_no_network),
        cmocka_unit_test(errors_have_a_code_and_a_sentence),
        cmocka_unit_test(a_group_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
