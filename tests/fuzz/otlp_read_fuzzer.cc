// SPDX-License-Identifier: Apache-2.0
// Reads OTLP profiles of any bytes, protobuf or JSON. What can be read becomes a valid Profile, and
// writing and reading that gives the same file, in both encodings.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "convert/export/to_otlp.h"
#include "convert/import/from_otlp.h"
#include "tests/support/bytes_input.h"
#include "tests/support/profile_check.h"

namespace perftape {
namespace {

Result<convert::Profile> Import(Bytes file) {
  convert::ImportReport report;
  BytesInput input(file);
  (void)convert::IsOtlp(input);
  return convert::ReadOtlp(input, {}, report);
}

std::string Written(const convert::Profile& profile, otlp::Encoding encoding) {
  return convert::EncodeOtlp(profile, {}, encoding).bytes;
}

// The first writing replaces bytes that are not UTF-8, which may make texts equal, and joins labels
// of one key. After that nothing changes.
void CheckConversion(Bytes file) {
  const Result<convert::Profile> profile = Import(file);
  if (!profile) return;
  if (!convert::Validate(*profile)) std::abort();
  const std::string mended = Written(*profile, otlp::Encoding::kProtobuf);
  const std::string once = Written(Import(AsBytes(mended)).value(), otlp::Encoding::kProtobuf);
  const convert::Profile again = Import(AsBytes(once)).value();
  if (Written(again, otlp::Encoding::kProtobuf) != once) std::abort();
  const std::string json = Written(again, otlp::Encoding::kJson);
  const convert::Profile from_json = Import(AsBytes(json)).value();
  if (Written(from_json, otlp::Encoding::kProtobuf) != once) std::abort();
}

}  // namespace
}  // namespace perftape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::CheckConversion(std::as_bytes(std::span(data, size)));
  return 0;
}
