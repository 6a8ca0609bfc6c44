// SPDX-License-Identifier: Apache-2.0
// The values in samples of latency probes (latency_probes.h) as texts: "ECONNREFUSED",
// "127.0.0.1:80".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::perfdata {

// Returns the name of an error of a probe: that of the errno, or of the rcode of an answer
// ("SERVFAIL", RFC 6895) if the probe is dns. An unknown one is its number.
std::string LatencyErrorText(std::string_view probe, std::int64_t error);

// Returns "127.0.0.1:80", "[::1]:80" or, of a path or another family, its number: "family 1". Empty
// for bytes without an address. `address` is a struct sockaddr_in or sockaddr_in6.
std::string SocketAddressText(Bytes address);
// The same of an address of 4 or 16 bytes.
std::string IpAddressText(Bytes address, std::uint16_t port);

// Returns the text of a field of a latency event; empty for a value that says nothing, such as the
// error 0. Nothing for a field that is best shown as it is, or if `event` is of no probe. `arch` is
// that of the recording (HEADER_ARCH), which numbers of system calls depend on.
std::optional<std::string> LatencyFieldText(std::string_view event, const TracepointField& field,
                                            const FieldValue& value, std::string_view arch);

}  // namespace perftape::perfdata
