// SPDX-License-Identifier: Apache-2.0
// Notifies the service manager of the state of the service (sd_notify(3)).
#pragma once

#include <string_view>

#include "formats/base/result.h"

namespace perftape::serve {

// Sends `state`, such as "READY=1", to $NOTIFY_SOCKET; nothing if it is not set. Fails as sendto(2)
// does, and with kInvalidArgument for a socket that is no path.
Status NotifyServiceManager(std::string_view state);

}  // namespace perftape::serve
