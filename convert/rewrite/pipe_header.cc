// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/pipe_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "convert/rewrite/record_walk.h"
#include "formats/perfdata/attr_table.h"

namespace perftape::rewrite {
namespace {

using perfdata::Event;
using perfdata::EventAttr;
using perfdata::FeatureBit;
using perfdata::RecordType;

// PERF_ATTR_SIZE_VER0 to VER9
constexpr auto kAttrSizes =
    std::to_array<std::size_t>({64, 72, 80, 96, 104, 112, 120, 128, 136, 144});

bool HasZero(Bytes words, std::endian order) {
  const WordArray ids(words, order);
  return std::ranges::find(ids.begin(), ids.end(), std::uint64_t{0}) != ids.end();
}

// Returns the likely size of the attribute in an ATTR record whose attribute does not contain its
// size. The attribute is followed by ids, which are never 0, while its last fields usually are 0.
std::size_t LikelyAttrSize(Bytes payload, std::endian order) {
  for (const std::size_t size : kAttrSizes) {
    if (size > payload.size()) break;
    if (!HasZero(payload.subspan(size), order)) return size;
  }
  return std::min(payload.size(), kAttrSizes.back());
}

std::optional<Event> EventIn(const FoundRecord& found, std::vector<std::string>& problems) {
  const Bytes payload = found.view.payload;
  const std::endian order = found.view.order;
  if (payload.size() < EventAttr::kSmallestSize) return std::nullopt;
  const auto stored = LoadFixed<std::uint32_t>(payload.data() + sizeof(std::uint32_t), order);
  const bool is_sound = stored >= EventAttr::kSmallestSize && stored <= payload.size();
  const std::size_t size = is_sound ? stored : LikelyAttrSize(payload, order);
  const std::string context = fmt::format("record at {}: ATTR", TextOf(found.position));
  std::vector<std::byte> bytes(payload.begin(),
                               payload.begin() + static_cast<std::ptrdiff_t>(size));
  const auto attr = perfdata::RecoverAttr(bytes, order, context, problems);
  if (!attr) return std::nullopt;
  const WordArray ids(payload.subspan(size), order);
  return Event{
      .attr = *attr, .format = FormatOf(*attr), .ids = {ids.begin(), ids.end()}, .name = {}};
}

// `known` has the records of all events so far: a stream may repeat one.
void AddEvent(const FoundRecord& found, PipeHeader& head, std::set<std::string>& known) {
  if (!known.emplace(AsText(found.whole)).second) {
    head.problems.push_back(
        fmt::format("record at {}: ATTR repeats an event", TextOf(found.position)));
  } else if (std::optional<Event> event = EventIn(found, head.problems)) {
    head.events.Add(*std::move(event));
  }
}

void AddFeature(const FoundRecord& found, PipeHeader& head) {
  const auto feature = perfdata::Decode<perfdata::HeaderFeature>(found.view, {});
  if (!feature) return;
  if (feature->bit >= perfdata::kFeatureBits) {
    head.problems.push_back(
        fmt::format("record at {}: feature {} is unknown", TextOf(found.position), feature->bit));
    return;
  }
  // perf marks the end of its features with an empty one.
  if (feature->payload.empty()) return;
  head.features.emplace(static_cast<FeatureBit>(feature->bit), feature->payload);
}

void AddName(const FoundRecord& found, PipeHeader& head) {
  const auto update = perfdata::Decode<perfdata::EventUpdate>(found.view, {});
  if (!update || update->update_type != perfdata::EventUpdate::kName) return;
  head.names.insert_or_assign(update->id, std::string(update->text));
}

void AddRecord(const FoundRecord& found, PipeHeader& head, std::set<std::string>& known) {
  switch (found.view.type) {
    case RecordType::kHeaderAttr:
      AddEvent(found, head, known);
      return;
    case RecordType::kHeaderFeature:
      // Expanded bytes are not lasting.
      if (!found.position.is_inside) AddFeature(found, head);
      return;
    case RecordType::kEventUpdate:
      AddName(found, head);
      return;
    case RecordType::kHeaderTracingData:
      if (head.tracepoints.empty()) {
        head.tracepoints = perfdata::ReadTracepoints(perfdata::TracingDataIn(found.view));
      }
      return;
    default:
      return;
  }
}

}  // namespace

PipeHeader ReadPipeHeader(Bytes stream, std::uint64_t offset, std::endian order) {
  PipeHeader head;
  const perfdata::EventTable unknown;
  std::set<std::string> known;
  const RecordVisitor visitor = {.record = [&](const FoundRecord& found) -> Result<Onward> {
                                   AddRecord(found, head, known);
                                   return Onward::kGoOn;
                                 },
                                 .dropped = [](const Stretch&) {},
                                 .guessed = [](const std::string&) {}};
  // Cannot fail: neither the visitor nor the walk returns an error.
  (void)RecordWalk(unknown, order, visitor).Run(stream, offset);
  return head;
}

perfdata::Tracepoints TracepointsOfFirstRecord(Bytes stream, std::uint64_t offset,
                                               std::endian order) {
  perfdata::Tracepoints tracepoints;
  const perfdata::EventTable unknown;
  const RecordVisitor visitor = {
      .record = [&](const FoundRecord& found) -> Result<Onward> {
        tracepoints = perfdata::ReadTracepoints(perfdata::TracingDataIn(found.view));
        return Onward::kStop;
      },
      .dropped = [](const Stretch&) {},
      .guessed = [](const std::string&) {}};
  // Cannot fail: neither the visitor nor the walk returns an error.
  (void)RecordWalk(unknown, order, visitor).Run(stream, offset);
  return tracepoints;
}

}  // namespace perftape::rewrite
