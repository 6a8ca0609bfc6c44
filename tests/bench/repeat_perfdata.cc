// SPDX-License-Identifier: Apache-2.0
// Makes a large recording of a small one. Repeats its records with later times, so that processes,
// stacks and rounds keep their shape. Of a large recording, writes the beginning.
//
//   repeat_perfdata IN OUT MEGABYTES file|pipe|zstd
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/writer.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kPause_ns = 1'000'000;  // between the end of one pass and the next

struct Span {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
};

Span TimesOf(const Reader& reader) {
  Span span;
  EventLookup lookup(reader.events());
  RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    const std::uint64_t time = lookup.Of(cursor.record()).time;
    if (time == 0) continue;
    span.first = std::min(span.first, time);
    span.last = std::max(span.last, time);
  }
  return span;
}

// Returns the offset in the payload of the time that TimeOf reads.
std::size_t OffsetOfTime(const RecordView& record, const SampleFormat& format) {
  const auto size = [&](std::uint64_t bits) {
    return sizeof(std::uint64_t) *
           static_cast<std::size_t>(std::popcount(format.sample_type & bits));
  };
  if (record.type == RecordType::kSample) return size(kIdentifier | kIp | kTid);
  return record.payload.size() - size(kTime | kId | kStreamId | kCpu | kIdentifier);
}

// Appends the record with a time that is later by `later_ns`.
void Postpone(const RecordView& record, const EventLookup::Answer& answer, std::uint64_t later_ns,
              std::vector<std::byte>& out) {
  out.clear();
  ByteWriter at(out);
  at.Fixed(record.type);
  at.Fixed(record.misc);
  at.Fixed(static_cast<std::uint16_t>(record.size()));
  at.Blob(record.payload, record.payload.size());
  if (answer.time == 0) return;
  const std::uint64_t time = answer.time + later_ns;
  const Bytes bytes = std::as_bytes(std::span(&time, 1));
  const std::size_t offset = sizeof(RecordHeader) + OffsetOfTime(record, answer.event->format);
  std::ranges::copy(bytes, out.begin() + static_cast<std::ptrdiff_t>(offset));
}

// Returns whether a pass repeats the record. It skips records without a time, which perf
// synthesized at the beginning, and all tool records except rounds.
bool IsRepeated(const RecordView& record, const EventLookup::Answer& answer) {
  return answer.time != 0 || record.type == RecordType::kFinishedRound;
}

struct Pass {
  std::uint64_t number = 0;
  std::uint64_t later_ns = 0;
  std::uint64_t most_bytes = 0;
};

// Appends one pass, up to the first round after which it has enough bytes. Returns their number,
// before compression.
Result<std::uint64_t> AppendPass(const Reader& reader, const Pass& pass, Writer& writer) {
  std::uint64_t bytes = 0;
  std::vector<std::byte> record;
  EventLookup lookup(reader.events());
  RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    const EventLookup::Answer answer = lookup.Of(cursor.record());
    if (pass.number > 0 && !IsRepeated(cursor.record(), answer)) continue;
    if (!cursor.record().appended.empty()) continue;
    Postpone(cursor.record(), answer, pass.later_ns, record);
    TRY(writer.Append(record));
    bytes += record.size();
    if (cursor.record().type != RecordType::kFinishedRound) continue;
    TRY(writer.Commit());
    if (bytes >= pass.most_bytes) break;
  }
  TRY(writer.Commit());
  if (auto failure = cursor.ReleaseFailure()) return Fail(*std::move(failure));
  return bytes;
}

Result<Writer> Open(const char* path, std::string_view kind, const Reader& reader) {
  if (kind == "pipe") return Writer::CreatePipe(path, reader.events().all(), {});
  WriterOptions options{.old = OldFile::kReplace};
  if (kind == "zstd") options.compression_level = 1;
  return Writer::Create(path, reader.events().all(), options);
}

Status Repeat(const char* in, const char* out, std::uint64_t size, std::string_view kind) {
  TRY_ASSIGN(Input input, Input::Open(in));
  TRY_ASSIGN(const Reader reader, Reader::Open(input));
  if (reader.order() != std::endian::native) {
    return Fail(ErrorCode::kUnsupported, "the recording is of a machine of another byte order");
  }
  const Span times = TimesOf(reader);
  if (times.first > times.last) return Fail(ErrorCode::kUnsupported, "no record has a time");
  TRY_ASSIGN(Writer writer, Open(out, kind, reader));
  std::uint64_t bytes = 0;
  for (std::uint64_t pass = 0; bytes < size; ++pass) {
    const std::uint64_t later_ns = pass * (times.last - times.first + kPause_ns);
    TRY_ASSIGN(const std::uint64_t appended,
               AppendPass(reader, {pass, later_ns, size - bytes}, writer));
    bytes += appended;
  }
  TRY(std::move(writer).Finish({}));
  return {};
}

}  // namespace
}  // namespace perftape::perfdata

int main(int argc, char** argv) {
  const std::string_view megabytes = argc > 3 ? argv[3] : "";
  std::uint64_t size = 0;
  std::from_chars(megabytes.data(), megabytes.data() + megabytes.size(), size);
  const std::string_view kind = argc > 4 ? argv[4] : "";
  if (argc != 5 || size == 0 || (kind != "file" && kind != "pipe" && kind != "zstd")) {
    fmt::print(stderr, "usage: repeat_perfdata IN OUT MEGABYTES file|pipe|zstd\n");
    return 2;
  }
  const auto done = perftape::perfdata::Repeat(argv[1], argv[2], size * 1'000'000, kind);
  if (done) return 0;
  fmt::print(stderr, "repeat_perfdata: {}\n", done.error().message);
  return 1;
}
