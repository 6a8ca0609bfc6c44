// SPDX-License-Identifier: Apache-2.0
#include "convert/export/sample_roots.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "convert/model/sample_thread.h"

namespace perftape::convert {
namespace {

class RootTexts {
 public:
  RootTexts(const Profile& profile, folded::Root root, FrameTexts& texts)
      : profile_(profile), root_(root), texts_(texts), of_threads_(profile.threads().size()) {}

  TextId Of(const Sample& sample) {
    if (root_ == folded::Root::kNone) return kNoText;
    if (sample.thread == ThreadId{}) return Render(sample);
    std::optional<TextId>& known = of_threads_[sample.thread.index];
    if (!known) known = Render(sample);
    return *known;
  }

 private:
  TextId Render(const Sample& sample) {
    const SampleThread thread = ThreadOf(profile_, sample);
    const bool is_known = sample.thread != ThreadId{} || !thread.comm.empty() ||
                          (thread.pid && root_ != folded::Root::kComm);
    if (!is_known) return kNoText;
    return texts_.Intern(folded::RootName(
        root_, {.comm = std::string(thread.comm), .pid = thread.pid, .tid = thread.tid}));
  }

  const Profile& profile_;
  const folded::Root root_;
  FrameTexts& texts_;
  std::vector<std::optional<TextId>> of_threads_;
};

}  // namespace

std::vector<RootedSample> SamplesByRoot(const Profile& profile, std::span<const EventId> events,
                                        folded::Root root, FrameTexts& texts) {
  RootTexts roots(profile, root, texts);
  const std::span<const Sample> samples = profile.samples();
  std::vector<std::uint32_t> first;  // of each root; samples without a root come first
  const auto number_of = [](const RootedSample& rooted) {
    return rooted.root == kNoText ? 0 : std::size_t{rooted.root} + 1;
  };
  std::vector<RootedSample> selected;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (std::ranges::count(events, samples[i].event) == 0) continue;
    const RootedSample& rooted =
        selected.emplace_back(RootedSample{.sample = i, .root = roots.Of(samples[i])});
    if (first.size() < number_of(rooted) + 2) first.resize(number_of(rooted) + 2);
    ++first[number_of(rooted) + 1];
  }
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  std::vector<RootedSample> sorted(selected.size());
  for (const RootedSample& rooted : selected) sorted[first[number_of(rooted)]++] = rooted;
  return sorted;
}

}  // namespace perftape::convert
