/* Cleanup at the end of a scope: `_cleanup_free_ char *text = …;`. TAKE() returns the value of such
 * a variable and clears the variable, so that the value outlives the scope. */
#ifndef TRAINYARD_BASE_CLEANUP_H
#define TRAINYARD_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

#define TAKE(variable)                                                                             \
    ({                                                                                             \
        __typeof__(variable) taken_ = (variable);                                                  \
        (variable) = (__typeof__(variable)){0};                                                    \
        taken_;                                                                                    \
    })

/* Like TAKE(), but for a file descriptor: clears the variable to -1. */
#define TAKE_FD(variable)                                                                          \
    ({                                                                                             \
        int taken_ = (variable);                                                                   \
        (variable) = -1;                                                                           \
        taken_;                                                                                    \
    })

static inline void cleanup_free(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}

static inline void cleanup_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_fd_   _cleanup_(cleanup_fd)

/* DEFINE_CLEANUP(NAME) defines cleanup_NAME() for variables of type `struct NAME *`. Use it
 * below the declaration of NAME_free(). */
#define DEFINE_CLEANUP(name)                                                                       \
    static inline void cleanup_##name(struct name **pointer)                                       \
    {                                                                                              \
        if (*pointer)                                                                              \
            name##_free(*pointer);                                                                 \
    }

#endif
