// SPDX-License-Identifier: Apache-2.0
// The bodies of pushes, as the importer makes them and the process that pushes gets them, through a
// stream. They are OTLP profiles here; pyroscope_payload.h has those of Pyroscope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::serve {

// Receivers of gRPC often take at most 4 MiB, uncompressed; Pyroscope takes profiles of 4 MiB.
inline constexpr std::size_t kLargestRequest = std::size_t{7} << 19;

struct Payload {
  // A compressed ExportProfilesServiceRequest, or a PushRequest with a compressed pprof.
  std::vector<std::byte> body = {};
  std::uint64_t samples = 0;  // that it stands for
};

// Encodes a profile with names. A large one is divided by samples, so that each request has at most
// `largest` bytes before it is compressed, or one sample. No samples give no payload. Fails as Gzip
// does.
Result<std::vector<Payload>> PayloadsOf(const convert::Profile& profile,
                                        std::size_t largest = kLargestRequest);

// Fails as writing does; with kIo if the receiver does not read in time, for sockets with a limit.
Status WritePayload(int fd, const Payload& payload);

// Puts payloads together from a stream that is read piece by piece.
class PayloadReader {
 public:
  // Adds what was read. Passes each payload that is complete now to `sink`. Fails with kCorrupt for
  // bytes that WritePayload does not write.
  Status Add(Bytes bytes, const std::function<void(Payload)>& sink);

 private:
  std::vector<std::byte> bytes_;  // of a payload that is not complete
};

}  // namespace perftape::serve
