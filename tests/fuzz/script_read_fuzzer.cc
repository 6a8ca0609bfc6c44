// SPDX-License-Identifier: Apache-2.0
// Reads text of perf script of any bytes. The profile is valid. Our text
// of it is read without a problem, and written and read again it is the same.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "convert/export/to_script.h"
#include "convert/import/from_script.h"
#include "formats/base/bytes.h"
#include "tests/fuzz/output_for_fuzzing.h"
#include "tests/support/bytes_input.h"
#include "tests/support/profile_check.h"

namespace perftape {
namespace {

std::string Rewritten(Bytes text, const convert::ImportOptions& options,
                      convert::ImportReport& report) {
  BytesInput input(text);
  const Result<convert::Profile> profile = convert::ReadScript(input, options, report);
  if (!profile) Break("cannot be read");
  if (!convert::Validate(*profile)) Break("not a valid profile");
  const OutputForFuzzing output(".perf-script");
  OutputFile out = OutputFile::Create(output.path()).value();
  if (!convert::WriteScript(*profile, {}, out) || !std::move(out).Commit()) {
    Break("cannot be written");
  }
  return ReadWholeFile(output.path()).value();
}

}  // namespace
}  // namespace perftape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes text = std::as_bytes(std::span(data, size));
  convert::IsScript(BytesInput(text));
  const convert::ImportOptions options = {.cpu_label = true, .time_label = true};
  convert::ImportReport of_text, of_ours, of_same;
  const std::string ours = Rewritten(text, options, of_text);
  // The text has no source lines, so frames become equal that differ in nothing else.
  const std::string again = Rewritten(AsBytes(ours), options, of_ours);
  if (Rewritten(AsBytes(again), options, of_same) != again) Break("not read as it was written");
  if (!of_ours.problems.empty()) Break("our text has a line that is not read");
  convert::ImportReport other;
  Rewritten(text, {.time = convert::TimeRange{}, .first_times = true, .histogram_bins = 3}, other);
  return 0;
}
