/* The client whose variables are on servers; see ps_client_private.h. */
#include "comm/ps_client_private.h"

int ps_client_remote_init(struct ps_client *client, const struct ps_options *options,
                          struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "parameter servers are not there yet");
}
