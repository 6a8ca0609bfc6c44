// SPDX-License-Identifier: Apache-2.0
// Normalizes any bytes into each form. The output opens and has the contents that the report
// counts. Normalized again, it has no damage and the same records.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "convert/rewrite/normalize.h"
#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "tests/fuzz/output_for_fuzzing.h"
#include "tests/support/bytes_input.h"

namespace perftape::rewrite {
namespace {

// Returns the form for an input, which its last byte selects.
NormalizeOptions OptionsOf(Bytes file) {
  const unsigned choice = file.empty() ? 0 : std::to_integer<unsigned>(file.back());
  NormalizeOptions options;
  if ((choice & 1) != 0) options.container = perfdata::Container::kPipe;
  if ((choice & 2) != 0) options.compression_level = 1;
  if ((choice & 4) != 0) options.reader = FindReaderLimits("6.1");
  return options;
}

// Returns the number of records, without COMPRESSED ones and those of a pipe's head.
std::uint64_t RecordsIn(const perfdata::Reader& reader) {
  perfdata::RecordCursor cursor = reader.records();
  std::uint64_t records = 0;
  while (true) {
    const Result<std::optional<perfdata::RecordView>> record = cursor.Next();
    if (!record) Break("does not read: " + record.error().message);
    if (!*record) return records;
    if ((*record)->type != perfdata::RecordType::kCompressed) ++records;
  }
}

Result<NormalizeReport> NormalizeBytes(Bytes file, const std::filesystem::path& output,
                                       const NormalizeOptions& options) {
  BytesInput input(file);
  return Normalize(input, output, options);
}

// Leaves out the records that replace two features of a file in a pipe.
RecordCounts KeptOf(const NormalizeReport& report) {
  RecordCounts kept = report.kept;
  kept.erase(perfdata::RecordType::kHeaderBuildId);
  kept.erase(perfdata::RecordType::kHeaderTracingData);
  return kept;
}

void NormalizeTwice(Bytes file) {
  const OutputForFuzzing once("-once"), again("-again");
  const NormalizeOptions options = OptionsOf(file);
  const Result<NormalizeReport> first = NormalizeBytes(file, once.path(), options);
  if (!first) {
    if (first.error().message.empty()) Break("an error without a message");
    if (std::filesystem::exists(once.path())) Break("an output in spite of an error");
    return;
  }
  const MappedFile written = MappedFile::Open(once.path()).value();
  const Result<perfdata::Reader> reader = perfdata::Reader::FromBytes(written.bytes());
  if (!reader) {
    // Without an event there is nothing to read.
    if (first->records() == 0) return;
    Break("does not open: " + reader.error().message);
  }
  const std::uint64_t records = RecordsIn(*reader);
  if (options.container == perfdata::Container::kFile && records != first->records()) {
    Break("contains other records than the report counts");
  }
  const Result<NormalizeReport> second = NormalizeBytes(written.bytes(), again.path(), options);
  if (!second) Break("cannot be normalized again: " + second.error().message);
  if (second->damage) Break("normalized again, it is damaged: " + second->damage->message);
  if (KeptOf(*second) != KeptOf(*first)) Break("normalized again, it holds other records");
}

}  // namespace
}  // namespace perftape::rewrite

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::rewrite::NormalizeTwice(std::as_bytes(std::span(data, size)));
  return 0;
}
