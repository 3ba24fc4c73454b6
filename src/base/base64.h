/* Base64 (RFC 4648): with padding as Secrets and kubeconfigs carry it, and the form for URLs,
 * without padding, as tokens do. */
#ifndef TRAINYARD_BASE_BASE64_H
#define TRAINYARD_BASE_BASE64_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

char *base64_encode(struct arena *arena, const void *data, size_t size);

/* White space between is skipped. The bytes are NUL-terminated behind their last. */
int base64_decode(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                  struct err *err);

char *base64_encode_url(struct arena *arena, const void *data, size_t size);

/* The one way to write the bytes and no other: no white space, no padding, no loose bits. */
int base64_decode_url(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                      struct err *err);

#endif
