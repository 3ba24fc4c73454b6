/* Logs to stderr: by default, text on a terminal and one JSON object per line otherwise. Libraries
 * return errors and log only at debug level. The code that handles a failure or change, usually a
 * callback of the event loop, logs it once. The subject comes first: log_info("tfjob
 * default/mnist", "created pod %s", name). */
#ifndef TRAINYARD_BASE_LOG_H
#define TRAINYARD_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
/* LOG_AUTO: text if stderr is a terminal, else JSON. */
enum log_format { LOG_AUTO, LOG_TEXT, LOG_JSON };

/* Sets the least severe level that is logged, and the format. The defaults are LOG_INFO and
 * LOG_AUTO. Must be called before the first other thread starts. */
void log_setup(enum log_level level, enum log_format format);

/* Writes one line with one write(). May be called on any thread. Ignores write errors. A message
 * beyond 8 KiB is truncated. */
void log_write(enum log_level level, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Logs one line at level error from a signal handler. Allocates nothing and takes no lock. */
void log_write_crash(const char *subject, const char *message);

#define log_error(subject, ...)   log_write(LOG_ERROR, subject, __VA_ARGS__)
#define log_warning(subject, ...) log_write(LOG_WARNING, subject, __VA_ARGS__)
#define log_info(subject, ...)    log_write(LOG_INFO, subject, __VA_ARGS__)
#define log_debug(subject, ...)   log_write(LOG_DEBUG, subject, __VA_ARGS__)

#endif
