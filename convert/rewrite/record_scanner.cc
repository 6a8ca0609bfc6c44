// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_scanner.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "formats/base/duration.h"
#include "formats/perfdata/kernel_size.h"

namespace perftape::rewrite {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

constexpr std::size_t kHeaderSize = sizeof(perfdata::RecordHeader);

// This many bytes of a window are not searched while more follows: room for a record and its
// followers.
constexpr std::size_t kLookAhead = std::size_t{4} << 16;
static_assert(kLookAhead < RecordScanner::kLongestWindow);

// The number of records that must follow one found in a gap; less if there is other evidence. A
// last record that ends at the end of the records counts as two.
constexpr int kMostFollowers = 3;
constexpr int kWorthOfTheEnd = 2;

// Records of unknown type are skipped to reach one that can be checked. This many in a row, each
// starting where the previous one ends, are accepted.
constexpr int kMostForeign = 16;

constexpr std::uint64_t kDayNs = 86'400 * kNsPerSecond;

bool AreNear(std::uint64_t one_ns, std::uint64_t other_ns) {
  return std::max(one_ns, other_ns) - std::min(one_ns, other_ns) < kDayNs;
}

// Returns whether the record contains an id of an event. Id 0 does not count.
bool HasKnownId(const RecordView& stored, const perfdata::EventTable& events) {
  const RecordView record = WithoutExcess(stored, events);
  const perfdata::Event* event = events.EventOf(record);
  if (event == nullptr) return false;
  std::uint64_t id = 0;
  if (record.type == RecordType::kSample) {
    const auto sample = perfdata::DecodeSample(record, event->format);
    if (sample) id = sample->id;
  } else {
    id = perfdata::DecodeSampleId(record, event->format).id;
  }
  return id != 0 && events.HasId(id);
}

std::string WhyNoFrame(Framing framing, const Frame& frame, std::size_t left) {
  if (left < kHeaderSize) return fmt::format("the last {} bytes are not a whole record", left);
  if (!perfdata::IsKnown(frame.record.type)) {
    return fmt::format("no record: {} is unknown", perfdata::RecordName(frame.record.type));
  }
  const std::string name = perfdata::RecordName(frame.record.type);
  if (framing == Framing::kNotAFrame) {
    return fmt::format("{}: size {} is less than a record header", name, frame.size);
  }
  return fmt::format("{} has {} bytes, but only {} are left", name, frame.size, left);
}

}  // namespace

Step RecordScanner::Next(Bytes window, Window extent) {
  if (in_step_) return InStep(window, extent);
  return Search(window, 0, {}, extent);
}

Step RecordScanner::InStep(Bytes window, Window extent) {
  skipped_ = 0;
  Frame frame;
  const Framing framing = ReadFrame(window, order_, frame);
  // An incomplete record. Its size is at most 64 KiB, unless a trace follows it.
  if (framing == Framing::kCut && extent == Window::kMoreFollows &&
      window.size() < kLongestWindow) {
    return {};
  }
  if (framing != Framing::kWhole) {
    return Search(window, 1, WhyNoFrame(framing, frame, window.size()), extent);
  }
  const bool is_foreign = MayBeForeign(frame.record);
  // Its size can be confirmed only by the next records.
  if (is_foreign && extent == Window::kMoreFollows && window.size() < kLongestWindow) return {};
  const RecordCheck judgement = CheckRecord(frame.record, *events_);
  const Bytes rest = window.subspan(frame.size);
  if ((is_foreign || judgement.fit == Fit::kExact) && IsLikelyNext(rest, extent)) {
    return Accept(frame);
  }

  // Either the size is wrong, and the record may contain others; or the next record is damaged. The
  // bytes inside are checked first, so that the verdict does not depend on the window.
  std::optional<std::size_t> inner =
      FindChain(window.first(frame.size), 1, frame.size, Window::kAll);
  if (inner || !AreLikelyNext(rest, extent)) {
    // A chain that begins earlier may continue after the record's end.
    const auto earlier = FindChain(window, 1, inner.value_or(frame.size), extent);
    if (earlier) inner = earlier;
  }
  if (inner) {
    return {.kind = Step::Kind::kGap,
            .size = *inner,
            .reason = fmt::format("{} has {} bytes, but another record begins inside it",
                                  perfdata::RecordName(frame.record.type), frame.size)};
  }
  if (judgement.fit != Fit::kBroken) return Accept(frame);
  const std::string reason =
      fmt::format("{} of {} bytes: {}", perfdata::RecordName(frame.record.type),
                  frame.record.size(), judgement.reason);
  if (rest.empty() || IsChain(window, frame.size, extent)) {
    return {.kind = Step::Kind::kDamaged, .size = frame.size, .frame = frame, .reason = reason};
  }
  return Search(window, frame.size, reason, extent);
}

Step RecordScanner::Accept(const Frame& frame) {
  if (const std::uint64_t time = TimeOf(frame.record); time != 0) last_time_ = time;
  return {.kind = Step::Kind::kRecord, .size = frame.size, .frame = frame};
}

// Returns a gap up to the next chain, or of all bytes that were searched. The first `from` bytes
// always belong to the gap.
Step RecordScanner::Search(Bytes window, std::size_t from, std::string reason, Window extent) {
  std::size_t reach = window.size();
  if (extent == Window::kMoreFollows) reach -= std::min(reach, kLookAhead);
  if (from >= reach && extent == Window::kMoreFollows && window.size() < kLongestWindow) return {};
  from = std::min(from, window.size());
  const auto found = FindChain(window, from, std::max(from, reach), extent);
  in_step_ = found.has_value();
  const std::size_t size = found.value_or(std::max(from, reach));
  skipped_ += size;
  return {.kind = Step::Kind::kGap, .size = size, .reason = std::move(reason)};
}

std::optional<std::size_t> RecordScanner::FindChain(Bytes window, std::size_t from, std::size_t to,
                                                    Window extent) const {
  to = std::min(to, window.size());
  // The type alone rules out most offsets.
  constexpr auto kLastType = std::to_underlying(RecordType::kSchedstatDomain);
  for (std::size_t at = from; at < to && window.size() - at >= kHeaderSize; ++at) {
    const auto type = LoadFixed<std::uint32_t>(window.data() + at, order_);
    if (type == 0 || type > kLastType) continue;
    // Records are aligned, except in a pipe with foreign output in it.
    const Odds odds = (skipped_ + at) % 8 == 0 ? Odds::kLikely : Odds::kUnlikely;
    if (IsChain(window, at, extent, odds)) return at;
  }
  return std::nullopt;
}

bool RecordScanner::IsChain(Bytes window, std::size_t at, Window extent, Odds odds) const {
  int needed = kMostFollowers;
  std::uint64_t chain_time = 0;
  int foreign = 0;
  for (int followers = 0;;) {
    const Bytes rest = window.subspan(at);
    if (followers > 0 && rest.empty()) return followers - 1 + kWorthOfTheEnd >= needed;
    if (foreign > 0 && rest.empty()) return true;
    Frame frame;
    const Framing framing = ReadFrame(rest, order_, frame);
    // Bytes after the window are not evidence against a record.
    if (framing == Framing::kCut && extent == Window::kMoreFollows) return followers > 0;
    if (framing != Framing::kWhole) return false;
    if (MayBeForeign(frame.record)) {
      if (++foreign == kMostForeign) return true;
      at += frame.size;
      continue;
    }
    const RecordCheck judgement = CheckRecord(frame.record, *events_);
    if (judgement.fit == Fit::kBroken) return false;
    if (followers == 0 && judgement.fit != Fit::kExact) return false;

    const std::uint64_t time = TimeOf(frame.record);
    if (followers == 0) {
      needed = FollowersFor(frame.record, odds);
    } else if (time != 0 && chain_time != 0 && !AreNear(time, chain_time)) {
      return false;
    }
    if (time != 0) chain_time = time;
    if (followers == needed) return true;
    ++followers;
    at += frame.size;
  }
}

int RecordScanner::FollowersFor(const RecordView& record, Odds odds) const {
  const std::uint64_t time = TimeOf(record);
  const bool knows_time = time != 0 && last_time_ != 0;
  if (knows_time && !AreNear(time, last_time_)) return kMostFollowers;
  return kMostFollowers - static_cast<int>(odds == Odds::kLikely) - static_cast<int>(knows_time) -
         static_cast<int>(knows_time && HasKnownId(record, *events_));
}

// Cheaper than IsChain: after a record that fits, a plausible header is enough.
bool RecordScanner::IsLikelyNext(Bytes rest, Window extent) const {
  for (int foreign = 0; foreign < kMostForeign && !rest.empty(); ++foreign) {
    Frame frame;
    const Framing framing = ReadFrame(rest, order_, frame);
    if (rest.size() < kHeaderSize) return extent == Window::kMoreFollows;
    if (framing == Framing::kWhole && MayBeForeign(frame.record)) {
      rest = rest.subspan(frame.size);
      continue;
    }
    if (!perfdata::IsKnown(frame.record.type)) return false;
    if (framing == Framing::kCut) return extent == Window::kMoreFollows;
    return framing == Framing::kWhole;
  }
  return true;
}

// Returns whether a plausible record is followed by plausible records.
bool RecordScanner::AreLikelyNext(Bytes rest, Window extent) const {
  int foreign = 0;
  for (int followers = 0; followers < kMostFollowers && !rest.empty();) {
    Frame frame;
    const Framing framing = ReadFrame(rest, order_, frame);
    if (framing == Framing::kCut && extent == Window::kMoreFollows) return true;
    if (framing != Framing::kWhole) return false;
    if (MayBeForeign(frame.record)) {
      if (++foreign == kMostForeign) return true;
    } else if (CheckRecord(frame.record, *events_).fit == Fit::kBroken) {
      return false;
    } else {
      ++followers;
    }
    rest = rest.subspan(frame.size);
  }
  return true;
}

std::uint64_t RecordScanner::TimeOf(const RecordView& stored) const {
  if (!perfdata::IsKnown(stored.type)) return 0;
  const RecordView record = WithoutExcess(stored, *events_);
  const perfdata::Event* event = events_->EventOf(record);
  return event == nullptr ? 0 : perfdata::TimeOf(record, event->format);
}

}  // namespace perftape::rewrite
