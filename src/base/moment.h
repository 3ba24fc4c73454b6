/* Points in time and their text. Whoever decides something gets `now` as a value; only edges ask
 * the machine. Times are milliseconds: monotonic for waiting, Unix wall time for what is written
 * down. */
#ifndef TRAINYARD_BASE_MOMENT_H
#define TRAINYARD_BASE_MOMENT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

int64_t moment_monotonic_ns(void);
int64_t moment_monotonic_ms(void);
int64_t moment_wall_ms(void);

enum { MOMENT_TEXT_MAX = 40 };

/* "2026-11-15T02:00:00Z", and with microseconds "2026-11-15T02:00:00.123456Z". */
void moment_format(int64_t wall_ms, char text[MOMENT_TEXT_MAX]);
void moment_format_micro(int64_t wall_us, char text[MOMENT_TEXT_MAX]);

/* RFC 3339, with or without a fraction, any offset. */
int moment_parse(const char *text, int64_t *ret_wall_ms, struct err *err);

/* So many seconds after a moment, 0 or more. Objects ask for seconds of any size: what is later
 * than the year 9999, the last that can be written, is its end. */
int64_t moment_after(int64_t wall_ms, int64_t seconds);

/* kubectl's age: "5s", "3m12s", "5h", "2d3h", "3y40d". */
void moment_format_age(int64_t age_ms, char text[MOMENT_TEXT_MAX]);

/* Go durations, "1m30s", "500ms", "1.5h", "0", to the nearest millisecond; a negative one is
 * refused. */
int moment_parse_duration(const char *text, int64_t *ret_ms, struct err *err);

#endif
