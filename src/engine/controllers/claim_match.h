/* Which volumes fit a claim; for claim_binder.c. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_CLAIM_MATCH_H
#define TRAINYARD_ENGINE_CONTROLLERS_CLAIM_MATCH_H

#include "base/json/json.h"

/* Why the volume does not fit the claim; NULL: it fits. */
const char *claim_mismatch(const struct json *claim, const struct json *volume);

#endif
