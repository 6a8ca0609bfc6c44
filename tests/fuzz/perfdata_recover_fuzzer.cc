// SPDX-License-Identifier: Apache-2.0
// Recovers any bytes. The output opens without a problem and has the contents that the report
// counts. Recovering it again loses nothing.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "convert/rewrite/recover.h"
#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "tests/fuzz/output_for_fuzzing.h"

namespace perftape::rewrite {
namespace {

void CheckRecords(Bytes file, const RecoverReport& report) {
  const Result<perfdata::Reader> reader = perfdata::Reader::FromBytes(file);
  if (!reader) Break("does not open: " + reader.error().message);
  if (!reader->problems().empty()) Break("opens with a problem: " + reader->problems().front());
  perfdata::RecordCursor cursor = reader->records();
  std::uint64_t records = 0;
  while (true) {
    const Result<std::optional<perfdata::RecordView>> record = cursor.Next();
    if (!record) Break("does not read: " + record.error().message);
    if (!*record) break;
    ++records;
  }
  if (records != report.records()) Break("contains other records than the report counts");
}

void RecoverTwice(Bytes file) {
  const OutputForFuzzing once("-once"), again("-again");
  const Result<RecoverReport> first = Recover(file, once.path());
  if (!first) {
    if (first.error().message.empty()) Break("an error without a message");
    if (std::filesystem::exists(once.path())) Break("an output in spite of an error");
    return;
  }
  const MappedFile written = MappedFile::Open(once.path()).value();
  CheckRecords(written.bytes(), *first);
  const Result<RecoverReport> second = Recover(written.bytes(), again.path());
  if (!second) Break("cannot be recovered again: " + second.error().message);
  if (second->kept != first->kept) Break("recovered again, it holds other records");
  if (second->stretches != 0 || !second->corrections.empty()) {
    Break("recovered again, something was lost: " + (second->corrections.empty()
                                                         ? second->dropped.front().reason
                                                         : second->corrections.front()));
  }
}

}  // namespace
}  // namespace perftape::rewrite

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::rewrite::RecoverTwice(std::as_bytes(std::span(data, size)));
  return 0;
}
