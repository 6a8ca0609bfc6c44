// SPDX-License-Identifier: Apache-2.0
// A pprof profile of any bytes, gzip or not. What is valid encodes and decodes to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "formats/pprof/check.h"
#include "formats/pprof/reader.h"
#include "formats/pprof/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes file = std::as_bytes(std::span(data, size));
  const Result<pprof::Profile> profile = pprof::ReadProfile(file, {.max_size = 4 << 20});
  if (!profile) return 0;
  if (!pprof::CheckValid(*profile)) std::abort();

  const std::string encoded = pprof::Encode(*profile);
  const Result<pprof::Profile> again = pprof::Decode(AsBytes(encoded));
  if (!again || *again != *profile) std::abort();
  return 0;
}
