// SPDX-License-Identifier: Apache-2.0
// Writing to a reader that may stall: a pipe, a socket or a terminal.
#pragma once

#include <chrono>
#include <stop_token>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// How long a reader may read nothing after a stop was requested.
inline constexpr std::chrono::seconds kStalledReaderGrace{5};

// Writes all of `bytes` to the blocking stream `fd`. Waits for its reader as long as necessary,
// until `stop` is requested. After that, the write fails with kIo if the reader reads nothing for
// `grace`; the error says how many bytes are missing. Otherwise fails as WriteAll does.
Status WriteToReader(int fd, Bytes bytes, const std::stop_token& stop,
                     std::chrono::nanoseconds grace = kStalledReaderGrace);

}  // namespace base
}  // namespace perftape
