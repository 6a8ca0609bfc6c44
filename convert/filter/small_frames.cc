// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/small_frames.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/model/saturating.h"

namespace perftape::convert {
namespace {

// A node of the tree of names; 0 is the root.
using Node = std::uint32_t;

// Numbers the names of the locations. Equal names have equal numbers.
std::vector<std::uint32_t> NumberNames(const Profile& profile) {
  // The key has the names of the functions; for a location without a name, its mapping.
  std::map<std::vector<StringId>, std::uint32_t> numbers;
  std::vector<std::uint32_t> of_locations;
  for (const Location& location : profile.locations()) {
    std::vector<StringId> names;
    for (const Line& line : location.lines) names.push_back(profile[line.function].name);
    if (names.empty()) names = {{}, profile[location.mapping].filename};
    const auto next = static_cast<std::uint32_t>(numbers.size());
    of_locations.push_back(numbers.try_emplace(std::move(names), next).first->second);
  }
  return of_locations;
}

class NameTree {
 public:
  explicit NameTree(const Profile& profile) {
    const std::vector<std::uint32_t> names = NumberNames(profile);
    std::map<std::pair<Node, std::uint32_t>, Node> known;
    for (const Stack& stack : profile.stacks().subspan(1)) {
      const Node caller = of_stacks_[stack.caller.index];
      const auto [node, is_new] =
          known.try_emplace({caller, names[stack.leaf.index]}, static_cast<Node>(callers_.size()));
      if (is_new) callers_.push_back(caller);
      of_stacks_.push_back(node->second);
    }
  }

  Node Of(StackId stack) const { return of_stacks_[stack.index]; }
  std::size_t size() const { return callers_.size(); }

  // Adds to the sum of each node the sums of all nodes below it.
  void AddUp(std::vector<std::int64_t>& sums) const {
    for (Node node = static_cast<Node>(size()) - 1; node > 0; --node) {  // callees first
      std::int64_t& caller = sums[callers_[node]];
      caller = AddUpToLimit(caller, sums[node]);
    }
  }

 private:
  std::vector<Node> callers_ = {0};
  std::vector<Node> of_stacks_ = {0};
};

// Returns the nodes whose share of at least one event is large enough.
std::vector<bool> FindLarge(const Profile& profile, const NameTree& tree, double percent) {
  std::vector<bool> large(tree.size());
  for (std::uint32_t event = 0; event < profile.events().size(); ++event) {
    std::vector<std::int64_t> sums(tree.size());
    for (const Sample& sample : profile.samples()) {
      if (sample.event.index != event || sample.period == INT64_MIN) continue;
      std::int64_t& sum = sums[tree.Of(sample.stack)];
      sum = AddUpToLimit(sum, std::abs(sample.period));  // absolute values, for differences
    }
    tree.AddUp(sums);
    const double least = static_cast<double>(sums[0]) * percent / 100;
    for (Node node = 0; node < tree.size(); ++node) {
      if (sums[node] > 0 && static_cast<double>(sums[node]) >= least) large[node] = true;
    }
  }
  large[0] = true;
  return large;
}

void MoveToDropped(const Profile& profile, const Sample& sample, FilterReport& report) {
  const std::string_view name = profile.text(profile[sample.event].name);
  const auto event = std::ranges::find(report.events, name, &EventTotals::name);
  event->kept.samples -= sample.count;
  event->kept.period -= sample.period;
  event->dropped[static_cast<std::size_t>(Filter::kMinPercent)].Add(sample);
}

}  // namespace

Profile CutSmallFrames(const Profile& profile, double percent, FilterReport& report) {
  const NameTree tree(profile);
  const std::vector<bool> large = FindLarge(profile, tree, percent);
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) copier.Copy(EventId{i});
  for (std::uint32_t i = 1; i < profile.stacks().size(); ++i) {  // callers first
    const StackId stack{i};
    if (!large[tree.Of(stack)]) copier.Set(stack, copier.Copy(profile[stack].caller));
  }
  for (const Sample& sample : profile.samples()) {
    if (sample.stack != StackId{} && copier.Copy(sample.stack) == StackId{}) {
      MoveToDropped(profile, sample, report);
    } else {
      builder.Add(copier.Copy(sample));
    }
  }
  builder.SetMetadata(profile.metadata());
  return std::move(builder).Finish();
}

}  // namespace perftape::convert
