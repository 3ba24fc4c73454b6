/* Renews the credential of a plugin in a long-running process. Runs the plugin on the thread pool
 * before the credential expires, or after the server has rejected the credential. The loop thread
 * never waits for the plugin, and the last good credential stays in use until a new one arrives. */
#ifndef TRAINYARD_KUBE_CLIENT_EXEC_RENEWAL_H
#define TRAINYARD_KUBE_CLIENT_EXEC_RENEWAL_H

#include "kube/client/exec_plugin.h"
#include "loop/loop.h"

struct exec_renewal;

/* Runs on the loop thread when the plugin has ended. `credential` is valid until the callback
 * returns; `err` is NULL. On failure, `credential` is NULL, `err` says why, and the plugin is run
 * again later. */
typedef void exec_renewed(void *context, const struct exec_credential *credential,
                          const struct err *err);

/* `expires_ms` is the Unix time at which the current credential expires; INT64_MAX: never. `plugin`
 * must stay valid until the loop is freed, because a pool thread may use it for some time after
 * exec_renewal_free(). */
struct exec_renewal *exec_renewal_new(struct loop *loop, const struct exec_plugin *plugin,
                                      int64_t expires_ms, exec_renewed *renewed, void *context);
/* Returns at once. A running plugin is killed, and `renewed` does not run afterwards. Returns NULL.
 * NULL-safe. */
struct exec_renewal *exec_renewal_free(struct exec_renewal *renewal);

/* Must be called when the server has rejected the credential. Starts the plugin at once, but not
 * earlier than 5 s after exec_renewal_new() or the end of the previous run; after failures, this
 * time is longer. */
void exec_renewal_rejected(struct exec_renewal *renewal);

#endif
