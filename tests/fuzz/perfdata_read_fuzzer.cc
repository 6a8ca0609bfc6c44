// SPDX-License-Identifier: Apache-2.0
// Reads a whole perf.data of any bytes: header, attributes, features, and all records in time
// order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"

namespace perftape::perfdata {
namespace {

// Reads all bytes of a sample's views, so that a sanitizer detects a view that is too long.
std::uint64_t Touch(const Sample& sample) {
  std::uint64_t sum = 0;
  for (const WordArray* words : {&sample.read, &sample.callchain, &sample.branches,
                                 &sample.branch_counters, &sample.regs_user, &sample.regs_intr}) {
    for (const std::uint64_t word : *words) sum += word;
  }
  for (const Bytes bytes : {sample.raw, sample.stack_user, sample.aux}) {
    for (const std::byte byte : bytes) sum += static_cast<std::uint64_t>(byte);
  }
  return sum;
}

void ReadRecords(const Reader& reader) {
  Processes processes;
  InTimeOrder cursor(reader.records(), reader.events());
  std::uint64_t sum = 0;
  while (true) {
    const Result<std::optional<RecordView>> record = cursor.Next();
    if (!record || !*record) break;
    const RecordView& view = **record;
    const Event* event = reader.events().EventOf(view);
    if (event == nullptr) continue;
    processes.Apply(view, event->format);
    if (view.type != RecordType::kSample) {
      sum += DecodeSampleId(view, event->format).time;
      continue;
    }
    const Result<Sample> sample = DecodeSample(view, event->format);
    if (!sample) continue;
    sum += Touch(*sample) + processes.CommOf(sample->tid).size();
    const Region* region = processes.Find(sample->pid, view.cpumode(), sample->ip);
    if (region != nullptr) sum += region->dso->base_name().size();
  }
  [[maybe_unused]] static volatile std::uint64_t sink;
  sink = sum;
}

void ReadFile(Bytes file) {
  const Result<Reader> reader = Reader::FromBytes(file);
  if (!reader) {
    if (reader.error().message.empty()) std::abort();  // an error has a location and a message
    return;
  }
  for (const auto& [bit, section] : reader->features()) {
    if (!reader->feature(bit)) std::abort();
    reader->DecodedFeature(bit);
    reader->text(bit);
  }
  ReadRecords(*reader);
}

}  // namespace
}  // namespace perftape::perfdata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::perfdata::ReadFile(std::as_bytes(std::span(data, size)));
  return 0;
}
