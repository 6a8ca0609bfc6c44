// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "formats/base/progress.h"
#include "formats/perfdata/kernel_size.h"

namespace perftape::rewrite {
namespace {

using perfdata::RecordType;
using Extent = RecordScanner::Window;

constexpr std::size_t kExpandedAtOnce = std::size_t{64} << 10;
// perf expands a COMPRESSED record into a buffer of the size of its ring (mmap_len of the feature
// COMPRESSED), usually 512 KiB. If this many bytes contain no record, the search ends.
constexpr std::uint64_t kFruitless = std::uint64_t{4} << 20;
// Compressed bytes may contain the magic of a frame by accident.
constexpr int kRestartsInARecord = 16;

bool BeginsFrame(Bytes bytes) {
  return bytes.size() >= sizeof kZstdFrameMagic &&
         LoadFixed<std::uint32_t>(bytes.data(), std::endian::little) == kZstdFrameMagic;
}

// Returns the offset in `bytes`, from `from` on, at which a frame begins.
std::optional<std::size_t> FindFrame(Bytes bytes, std::size_t from) {
  for (std::size_t at = from; at < bytes.size(); ++at) {
    if (BeginsFrame(bytes.subspan(at))) return at;
  }
  return std::nullopt;
}

// Returns the compressed bytes of a record: the whole payload of COMPRESSED, as many as its size
// field for COMPRESSED2.
Bytes CompressedIn(const perfdata::RecordView& record) {
  if (record.type != RecordType::kCompressed2) return record.payload;
  std::uint64_t size = 0;
  Bytes bytes;
  ByteReader at(record.payload, record.order);
  at.Fixed(size);
  at.Blob(bytes, std::min<std::uint64_t>(size, at.remaining()));
  return bytes;
}

}  // namespace

std::string TextOf(const StreamPosition& position) {
  if (!position.is_inside) return fmt::format("{:#x}", position.offset);
  return fmt::format("{:#x}+{:#x}", position.offset, position.inside);
}

RecordWalk::RecordWalk(const perfdata::EventTable& events, std::endian order,
                       const RecordVisitor& visitor)
    : events_(events),
      order_(order),
      visitor_(visitor),
      outer_(events, order),
      inner_(events, order) {}

Status RecordWalk::Run(Bytes stream, std::uint64_t offset) {
  Onward onward = Onward::kGoOn;
  AddWorkToProgress(stream.size(), 1);
  ProgressMeter progress(offset);
  while (!stream.empty() && onward == Onward::kGoOn) {
    progress.MoveTo(offset, 0);
    const Step step = outer_.Next(stream, Extent::kAll);
    TRY_ASSIGN(onward, Handle(step, stream, offset));
    stream = stream.subspan(step.size);
    offset += step.size;
  }
  if (onward == Onward::kGoOn) TRY(Drain(Extent::kAll));
  FlushDropped();
  return {};
}

Result<Onward> RecordWalk::Handle(const Step& step, Bytes window, std::uint64_t offset) {
  const StreamPosition position = {.offset = offset};
  const RecordType type = step.frame.record.type;
  if (IsLikelyCompressed(step)) {
    visitor_.guessed(fmt::format("record at {}: {} is read as COMPRESSED", TextOf(position),
                                 perfdata::RecordName(type)));
    return Expand(step.frame.record.payload, offset);
  }
  if (step.kind == Step::Kind::kRecord) {
    if (!IsCompressed(type)) return Visit(step, window, position);
    return Expand(CompressedIn(step.frame.record), offset);
  }
  Drop(position, step.size, step.reason);
  return Onward::kGoOn;
}

Result<Onward> RecordWalk::Visit(const Step& step, Bytes window, const StreamPosition& position) {
  FlushDropped();
  FoundRecord found = {.view = WithoutExcess(step.frame.record, events_),
                       .whole = window.first(step.frame.record.size()),
                       .position = position};
  found.view.file_offset = position.offset;
  return visitor_.record(found);
}

// Returns whether a record that contradicts its type has the start or the continuation of a zstd
// frame as its body.
bool RecordWalk::IsLikelyCompressed(const Step& step) const {
  const RecordType type = step.frame.record.type;
  const bool is_foreign = step.kind == Step::Kind::kRecord && !perfdata::IsKnown(type);
  if (step.kind != Step::Kind::kDamaged && !is_foreign) return false;
  const bool is_marker = type == RecordType::kFinishedRound || type == RecordType::kFinishedInit;
  const bool goes_on = is_marker && !zstd_problem_ && !expanded_.sources.empty();
  return goes_on || BeginsFrame(step.frame.record.payload);
}

Result<Onward> RecordWalk::Expand(Bytes payload, std::uint64_t offset) {
  expanded_.sources.push_back({expanded_.at + expanded_.bytes.size(), offset});
  budget_.AddCompressed(payload.size());
  std::size_t searched = 0;  // bytes at the front of the payload in which no frame begins
  bool is_full = false;      // then zstd may have more output
  for (int restarts = 0; !payload.empty() || is_full;) {
    if (zstd_problem_) {
      const auto frame = restarts++ < kRestartsInARecord ? FindFrame(payload, searched)
                                                         : std::optional<std::size_t>();
      Drop({.offset = offset}, frame.value_or(payload.size()), *zstd_problem_);
      if (!frame) return Onward::kGoOn;
      payload = payload.subspan(*frame);
      zstd_problem_.reset();
      zstd_.Restart();
    }
    std::vector<std::byte>& bytes = expanded_.bytes;
    const std::size_t before = bytes.size();
    bytes.resize(before + kExpandedAtOnce);
    const Result<std::size_t> made = zstd_.Expand(payload, std::span(bytes).subspan(before));
    bytes.resize(before + made.value_or(0));
    is_full = made && *made == kExpandedAtOnce;
    TRY_ASSIGN(const Onward onward, Drain(made ? Extent::kMoreFollows : Extent::kAll));
    if (onward == Onward::kStop) return onward;
    if (!made) {
      zstd_problem_ = made.error().message;
      searched = 1;
    } else if (!budget_.Allows(*made)) {
      zstd_problem_ = "expands to more than a thousand times its size";
      searched = 0;
      AbandonExpanded();
    } else if (expanded_.fruitless > kFruitless) {
      zstd_problem_ = "expands to megabytes that contain no record";
      searched = 0;
      AbandonExpanded();
    }
  }
  return Onward::kGoOn;
}

// Visits the expanded records that are now complete.
Result<Onward> RecordWalk::Drain(Extent extent) {
  Bytes window = expanded_.bytes;
  Onward onward = Onward::kGoOn;
  while (!window.empty() && onward == Onward::kGoOn) {
    const Step step = inner_.Next(window, extent);
    if (step.kind == Step::Kind::kMore) break;
    const StreamPosition position = PositionInside(expanded_.at);
    // perf never compresses a COMPRESSED record. If it were kept, its records would precede all
    // others in the new file.
    const bool is_nested = step.kind == Step::Kind::kRecord && IsCompressed(step.frame.record.type);
    if (step.kind == Step::Kind::kRecord && !is_nested) {
      expanded_.fruitless = 0;
      TRY_ASSIGN(onward, Visit(step, window, position));
    } else {
      expanded_.fruitless += step.size;
      Drop(position, step.size, is_nested ? "compressed inside a COMPRESSED record" : step.reason);
    }
    window = window.subspan(step.size);
    expanded_.at += step.size;
  }
  const auto used = expanded_.bytes.size() - window.size();
  expanded_.bytes.erase(expanded_.bytes.begin(),
                        expanded_.bytes.begin() + static_cast<std::ptrdiff_t>(used));
  // A new frame begins with a record. The rest of an old frame has been dropped.
  if (extent == Extent::kAll) inner_ = RecordScanner(events_, order_);
  return onward;
}

void RecordWalk::AbandonExpanded() {
  Drop(PositionInside(expanded_.at), expanded_.bytes.size(), "");
  expanded_.at += expanded_.bytes.size();
  expanded_.bytes.clear();
  expanded_.fruitless = 0;
  inner_ = RecordScanner(events_, order_);
}

StreamPosition RecordWalk::PositionInside(std::uint64_t at) {
  std::deque<Expanded::Source>& sources = expanded_.sources;
  while (sources.size() > 1 && sources[1].from <= at) sources.pop_front();
  return {.offset = sources.front().offset, .inside = at - sources.front().from, .is_inside = true};
}

// An empty `reason` extends the previous stretch.
void RecordWalk::Drop(const StreamPosition& position, std::uint64_t size, std::string_view reason) {
  if (size == 0) return;
  if (pending_ && reason.empty()) {
    pending_->size += size;
    return;
  }
  FlushDropped();
  pending_ = Stretch{position, size, std::string(reason.empty() ? "no record" : reason)};
}

void RecordWalk::FlushDropped() {
  if (!pending_) return;
  visitor_.dropped(*pending_);
  pending_.reset();
}

}  // namespace perftape::rewrite
