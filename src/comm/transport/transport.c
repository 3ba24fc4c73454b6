/* Implements the choice of a transport from the list of all transports; see transport.h. A new
 * transport adds its row here. */
#include "comm/transport/transport.h"

#include "base/mem.h"

/* In order of preference. */
static const struct transport_ops *const TRANSPORTS[] = {&transport_shm, &transport_tcp};

int transport_open(enum transport_kind kind, const struct transport_config *config,
                   struct transport **ret, struct err *err)
{
    struct transport *transport = NULL;
    int result = 0;
    for (size_t i = 0; result == 0 && !transport && i < ARRAY_SIZE(TRANSPORTS); i++)
        if (TRANSPORTS[i]->kind == kind)
            result = TRANSPORTS[i]->open(config, &transport, err);
    if (result == 0)
        *ret = transport;
    return result;
}

struct transport *transport_close(struct transport *transport)
{
    if (transport)
        transport->ops->close(transport);
    return NULL;
}
