// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/new_profile.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/timeline/share.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::timeline {

using convert::LocationId;
using convert::Profile;
using convert::StackId;

NewProfile::NewProfile(const Profile& from, std::string_view event)
    : from_(from),
      copier_(from, builder_),
      event_(builder_.Add(convert::Event{.name = builder_.Add(event),
                                         .unit = builder_.Add(perfdata::kNanoseconds),
                                         .values = convert::EventValues::kPlain})) {}

StackId NewProfile::Push(StackId caller, std::string_view name) {
  const convert::Line line = {.function =
                                  builder_.Add(convert::Function{.name = builder_.Add(name)})};
  return builder_.Push(caller, builder_.Add(convert::Location{.lines = {&line, 1}}));
}

StackId NewProfile::PushAll(StackId caller, StackId stack) {
  if (caller == StackId{}) return copier_.Copy(stack);
  frames_.clear();
  for (; stack != StackId{}; stack = from_[stack].caller) frames_.push_back(from_[stack].leaf);
  for (const LocationId location : std::views::reverse(frames_)) {
    caller = builder_.Push(caller, copier_.Copy(location));
  }
  return caller;
}

void NewProfile::Add(StackId stack, convert::ThreadId thread, convert::StringId cgroup,
                     std::int64_t ns, std::optional<std::int64_t> end_ns) {
  if (ns == 0) return;
  labels_.clear();
  if (cgroup != convert::StringId{}) {
    labels_.push_back({.key = builder_.Add(convert::kCgroupLabel), .text = copier_.Copy(cgroup)});
  }
  if (end_ns) {
    labels_.push_back({.key = builder_.Add(convert::kTimestampLabel), .number = *end_ns});
  }
  convert::LabelsId labels;
  if (!labels_.empty()) labels = builder_.Add(labels_);
  builder_.Add(convert::Sample{.stack = stack,
                               .thread = copier_.Copy(thread),
                               .event = event_,
                               .labels = labels,
                               .period = ns});
}

Profile NewProfile::Finish() && {
  builder_.SetMetadata(from_.metadata());
  return std::move(builder_).Finish();
}

std::vector<std::int64_t> Divide(std::int64_t total, const std::vector<std::int64_t>& weights) {
  Int128 sum = 0;
  for (const std::int64_t weight : weights) sum += weight;
  const bool are_equal = sum <= 0;
  if (are_equal) sum = static_cast<Int128>(weights.size());
  std::vector<std::int64_t> shares;
  Int128 before = 0;
  std::int64_t divided = 0;
  for (const std::int64_t weight : weights) {
    before += are_equal ? 1 : weight;
    const std::int64_t up_to_here = ShareOf(total, before, sum);
    shares.push_back(up_to_here - divided);
    divided = up_to_here;
  }
  return shares;
}

std::vector<SharePart> SplitByShares(const std::vector<Span>& ranges,
                                     const std::vector<std::int64_t>& shares) {
  std::vector<SharePart> parts;
  std::size_t share = 0;
  std::int64_t left = shares.empty() ? 0 : shares.front();  // of the share
  for (Span range : ranges) {
    while (!range.is_empty() && share < shares.size()) {
      if (left == 0) {
        left = ++share < shares.size() ? shares[share] : 0;
        continue;
      }
      const std::int64_t length = std::min(left, range.length());
      const Span time = {.start = range.start, .end = range.start + length};
      parts.push_back({.share = share, .time = time});
      range.start += length;
      left -= length;
    }
  }
  return parts;
}

Profile WithRecording(const Profile& made, const Profile& recorded) {
  convert::ProfileBuilder builder;
  builder.Reserve({.samples = made.samples().size() + recorded.samples().size(),
                   .labels = made.labels().size() + recorded.labels().size()});
  for (const Profile* const profile : {&made, &recorded}) {
    convert::ProfileCopier copier(*profile, builder);
    for (std::uint32_t i = 0; i < profile->events().size(); ++i) copier.Copy(convert::EventId{i});
    for (const convert::Sample& sample : profile->samples()) builder.Add(copier.Copy(sample));
  }
  convert::Metadata metadata = recorded.metadata();
  if (!made.events().empty()) {
    metadata.default_value = made.text(made.events().front().name);
  }
  builder.SetMetadata(std::move(metadata));
  return std::move(builder).Finish();
}

}  // namespace perftape::timeline
