/* A parameter server; see ps.h. */
#include "comm/ps.h"

int ps_server_run(const struct ps_server_options *options, bool *ret_stopped, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "parameter servers are not there yet");
}
