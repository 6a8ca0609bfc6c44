// SPDX-License-Identifier: Apache-2.0
// Reads folded stacks of any bytes. The profile is valid; written and read again it gives the same
// file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "convert/export/to_folded.h"
#include "convert/import/from_folded.h"
#include "formats/base/bytes.h"
#include "tests/fuzz/output_for_fuzzing.h"
#include "tests/support/bytes_input.h"
#include "tests/support/profile_check.h"

namespace perftape {
namespace {

// Reads `text` and writes the profile again; empty if the text cannot be read.
std::string Rewritten(Bytes text, const convert::ImportOptions& read,
                      const convert::FoldedOptions& write) {
  BytesInput input(text);
  convert::ImportReport report;
  const Result<convert::Profile> profile = convert::ReadFolded(input, read, report);
  if (!profile) return "";
  if (!convert::Validate(*profile)) Break("not a valid profile");
  const OutputForFuzzing output(".folded");
  OutputFile out = OutputFile::Create(output.path()).value();
  if (!convert::WriteFolded(*profile, write, out) || !std::move(out).Commit())
    Break("cannot be written");
  return ReadWholeFile(output.path()).value();
}

void ReadAsA(folded::Root root, bool differential, Bytes text) {
  const convert::ImportOptions lenient = {
      .root = root, .differential = differential, .lenient = true};
  const convert::ImportOptions strict = {.root = root, .differential = differential};
  const convert::FoldedOptions write = {.root = root, .differential = differential};
  const std::string once = Rewritten(text, lenient, write);
  if (Rewritten(AsBytes(once), strict, write) != once) Break("not read as it was written");
}

}  // namespace
}  // namespace perftape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes text = std::as_bytes(std::span(data, size));
  convert::IsFolded(BytesInput(text));
  ReadAsA(folded::Root::kNone, false, text);
  ReadAsA(folded::Root::kNone, true, text);
  ReadAsA(folded::Root::kCommPidTid, false, text);
  return 0;
}
