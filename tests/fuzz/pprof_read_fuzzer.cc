// SPDX-License-Identifier: Apache-2.0
// Reads a pprof of any bytes, gzip or not. A valid one encodes and decodes to the same messages. It
// becomes a valid Profile, and writing and reading that gives the same file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "convert/export/to_pprof.h"
#include "convert/import/from_pprof.h"
#include "tests/support/bytes_input.h"
#include "tests/support/pprof_check.h"
#include "tests/support/pprof_reader.h"
#include "tests/support/pprof_writer.h"
#include "tests/support/profile_check.h"

namespace perftape {
namespace {

void CheckMessages(Bytes file) {
  const Result<pprof::Profile> profile = pprof::ReadProfile(file, {.max_size = 4 << 20});
  if (!profile) return;
  if (!pprof::CheckValid(*profile)) std::abort();

  const std::string encoded = pprof::Encode(*profile);
  const Result<pprof::Profile> again = pprof::Decode(AsBytes(encoded));
  if (!again || *again != *profile) std::abort();
}

Result<convert::Profile> Import(Bytes file) {
  convert::ImportReport report;
  BytesInput input(file);
  (void)convert::IsPprof(input);
  return convert::ReadPprof(input, {}, report);
}

std::vector<std::byte> Written(const convert::Profile& profile) {
  return convert::EncodePprof(profile, {.compression = convert::PprofCompression::kNone}).value();
}

// The first writing replaces bytes that are not UTF-8, which may make texts equal. After that
// nothing changes.
void CheckConversion(Bytes file) {
  const Result<convert::Profile> profile = Import(file);
  if (!profile) return;
  if (!convert::Validate(*profile)) std::abort();
  const std::vector<std::byte> mended = Written(*profile);
  const std::vector<std::byte> once = Written(Import(mended).value());
  const std::vector<std::byte> twice = Written(Import(once).value());
  if (once != twice) std::abort();
  if (!pprof::ReadProfile(once)) std::abort();
}

}  // namespace
}  // namespace perftape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes file = std::as_bytes(std::span(data, size));
  CheckMessages(file);
  CheckConversion(file);
  return 0;
}
