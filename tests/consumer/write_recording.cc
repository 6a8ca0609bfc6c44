// SPDX-License-Identifier: Apache-2.0
// Writes a perf.data with one sample in each function of a binary: write_recording BINARY OUTPUT
// perf report shows each function of the binary once.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/symbols.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/writer.h"

namespace {

using namespace perftape::perfdata;
using perftape::ErrorCode;
using perftape::Fail;
using perftape::FileOffset;
using perftape::Result;
using perftape::Status;
using perftape::elf::ElfFile;
using perftape::elf::Segment;
using perftape::elf::SymbolTable;

constexpr std::uint32_t kPid = 4711;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kCodeAddress = 0x555555554000;  // where the process maps its code
constexpr std::uint64_t kPeriodNs = 1'000'000;          // between two samples

Event CpuClock() {
  Event event;
  event.attr = {.type = kTypeSoftware,
                .config = kSoftwareCpuClock,
                .sample_period = kPeriodNs,
                .sample_type = kIdentifier | kIp | kTid | kTime | kPeriod,
                .flags = kSampleIdAll};
  event.format = FormatOf(event.attr);
  event.ids = {1};
  event.name = "cpu-clock";
  return event;
}

// The records of a process that maps the code of `file` and runs each of its functions once.
class Process {
 public:
  Process(const ElfFile& file, const Segment& code, const Event& event)
      : file_(file), code_(code), event_(event) {}

  Status Start(const std::string& path) {
    const Comm comm{.pid = kPid, .tid = kPid, .comm = "demo"};
    TRY(Encode(comm, Trailer(), event_.format, kMiscCommExec, records_));
    const Mmap2 mapping{.pid = kPid,
                        .tid = kPid,
                        .start = kCodeAddress,
                        .length = code_.offset.value - page_offset() + code_.size,
                        .page_offset = page_offset(),
                        .build_id = file_.build_id(),
                        .protection = Mmap2::kProtectionExec,
                        .filename = path};
    std::uint16_t misc = MiscOf(CpuMode::kUser);
    if (!file_.build_id().empty()) misc |= kMiscMmapBuildId;
    return Encode(mapping, Trailer(), event_.format, misc, records_);
  }

  Status Run(FileOffset offset) {
    time_ns_ += kPeriodNs;
    const Sample sample{.id = event_.ids.front(),
                        .ip = kCodeAddress + offset.value - page_offset(),
                        .pid = kPid,
                        .tid = kPid,
                        .time = time_ns_,
                        .period = kPeriodNs};
    return EncodeSample(sample, event_.format, MiscOf(CpuMode::kUser), records_);
  }

  const std::vector<std::byte>& records() const { return records_; }

 private:
  std::uint64_t page_offset() const { return code_.offset.value / kPage * kPage; }
  SampleId Trailer() const {
    return {.pid = kPid, .tid = kPid, .time = time_ns_, .id = event_.ids.front()};
  }

  const ElfFile& file_;
  const Segment& code_;
  const Event& event_;
  std::uint64_t time_ns_ = 1;
  std::vector<std::byte> records_;
};

const Segment* FindCode(const ElfFile& file) {
  for (const Segment& segment : file.segments()) {
    if (segment.executable) return &segment;
  }
  return nullptr;
}

// Returns the number of samples.
Result<std::size_t> WriteRecording(const char* binary, const char* output) {
  TRY_ASSIGN(const ElfFile file, ElfFile::Open(binary));
  const Segment* code = FindCode(file);
  if (code == nullptr) return Fail(ErrorCode::kUnsupported, "no code in this file");
  const SymbolTable symbols = SymbolTable::Read(file);

  const Event event = CpuClock();
  Process process(file, *code, event);
  TRY(process.Start(binary));
  std::size_t samples = 0;
  for (const auto& symbol : symbols.symbols()) {
    const std::optional<FileOffset> offset = file.ToFile(symbol.start);
    if (!offset || offset->value < code->offset.value ||
        offset->value >= code->offset.value + code->size) {
      continue;
    }
    TRY(process.Run(*offset));
    ++samples;
  }

  TRY_ASSIGN(Writer writer, Writer::Create(output, {&event, 1}));
  TRY(writer.Append(process.records()));
  const std::vector<Feature> features = {{FeatureBit::kEventDesc, EventDesc{{event}}}};
  TRY_ASSIGN([[maybe_unused]] const std::uint64_t size, std::move(writer).Finish(features));
  return samples;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_recording BINARY OUTPUT\n");
    return 2;
  }
  const Result<std::size_t> samples = WriteRecording(argv[1], argv[2]);
  if (!samples) {
    std::fprintf(stderr, "write_recording: %s\n", samples.error().message.c_str());
    return 1;
  }
  std::printf("%zu samples\n", *samples);
  return 0;
}
