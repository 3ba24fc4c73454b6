/* Tests the limit of the watch decoder. Other tests of it go through the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/client/watch_decoder.h"

#include <stdlib.h>
#include <string.h>

static bool count_event(void *context, const char *type, struct json *object)
{
    (*(int *)context)++;
    return true;
}

/* Feeds one event of `size` bytes in pieces of `piece` bytes. */
static int feed_event(size_t size, size_t piece, int *ret_events)
{
    static const char HEAD[] = "{\"type\":\"ADDED\",\"object\":{\"a\":\"", TAIL[] = "\"}}";
    char *line = mem_alloc(size + 1);
    struct watch_decoder decoder;
    int result = 0;
    memset(line, 'x', size);
    memcpy(line, HEAD, sizeof(HEAD) - 1);
    memcpy(line + size - (sizeof(TAIL) - 1), TAIL, sizeof(TAIL) - 1);
    line[size] = '\n';
    *ret_events = 0;
    watch_decoder_init(&decoder);
    for (size_t at = 0; at <= size && result == 0; at += piece)
        result =
            watch_decoder_feed(&decoder, line + at, size + 1 - at < piece ? size + 1 - at : piece,
                               count_event, ret_events, NULL);
    watch_decoder_release(&decoder);
    free(line);
    return result;
}

static void an_event_has_a_limit(void **state)
{
    static const size_t PIECES[] = {SIZE_MAX / 2, 1 << 20, 65537};
    for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
        int events;
        assert_int_equal(feed_event(WATCH_LINE_MAX, PIECES[i], &events), 0);
        assert_int_equal(events, 1);
        assert_int_equal(feed_event(WATCH_LINE_MAX + 1, PIECES[i], &events), -ERR_TOO_LARGE);
        assert_int_equal(events, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_event_has_a_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
