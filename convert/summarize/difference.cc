// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/difference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "convert/frames/frame_table.h"
#include "convert/model/saturating.h"
#include "convert/summarize/amount.h"
#include "convert/summarize/breakdowns.h"
#include "convert/summarize/call_tree.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::Profile;

using StackKey = std::vector<std::string>;

struct SelfAndInclusive {
  Amount self, inclusive;
};

// The amounts of one event in one profile.
struct EventSums {
  Amount total;
  Amount whole;  // what shares are of
  std::map<FunctionKey, SelfAndInclusive> functions;
  std::map<StackKey, Amount> stacks;
};

void AddStacks(const Profile& profile, const convert::FrameTable& frames,
               const StackAmounts& amounts, EventSums& sums) {
  const CallTree tree(profile, frames, amounts, {});
  for (TreeNodeId end = 1; end < tree.size(); ++end) {
    if (tree[end].self.is_zero()) continue;
    StackKey key;
    for (TreeNodeId node = end; node != 0; node = tree[node].parent) {
      key.emplace_back(frames.NameOf(tree[node].frame));
    }
    sums.stacks[std::move(key)].Add(tree[end].self);
  }
}

EventSums SumsOf(const Profile& profile, std::string_view event_name,
                 const CompareOptions& options) {
  EventSums sums;
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (profile.text(profile[EventId{i}].name) != event_name) continue;
    const StackAmounts amounts(profile, EventId{i});
    sums.total.Add(amounts.total());
    sums.whole.Add(amounts.whole());
    for (const FunctionAmounts& function : SumFunctions(profile, frames, amounts)) {
      const FunctionKey key(frames.NameOf(function.frame), frames.BinaryOf(function.frame));
      SelfAndInclusive& known = sums.functions[key];
      known.self.Add(function.self);
      known.inclusive.Add(function.inclusive);
    }
    if (options.stacks) AddStacks(profile, frames, amounts, sums);
  }
  return sums;
}

std::set<FunctionKey> FunctionsOf(const std::vector<EventSums>& all) {
  std::set<FunctionKey> functions;
  for (const EventSums& sums : all) {
    for (const auto& [key, amount] : sums.functions) functions.insert(key);
  }
  return functions;
}

// Gives the functions and frames of old profiles the names of the new side.
RenamedBinaries Rename(std::vector<EventSums>& before, const std::vector<EventSums>& after) {
  const std::set<FunctionKey> old_functions = FunctionsOf(before);
  const std::set<FunctionKey> new_functions = FunctionsOf(after);
  RenamedBinaries renamed = FindRenamedBinaries(old_functions, new_functions);
  const auto pairs = PairFunctions(old_functions, new_functions, renamed);
  std::map<std::string, std::string> unresolved;  // the names of code without a name
  for (const auto& [from, to] : pairs) {
    if (from.first != to.first) unresolved.emplace(from.first, to.first);
  }
  for (EventSums& sums : before) {
    std::map<FunctionKey, SelfAndInclusive> functions;
    for (const auto& [key, amounts] : sums.functions) {
      const auto found = pairs.find(key);
      SelfAndInclusive& sum = functions[found == pairs.end() ? key : found->second];
      sum.self.Add(amounts.self);
      sum.inclusive.Add(amounts.inclusive);
    }
    sums.functions = std::move(functions);
    if (unresolved.empty()) continue;
    std::map<StackKey, Amount> stacks;
    for (const auto& [key, amount] : sums.stacks) {
      StackKey stack = key;
      for (std::string& frame : stack) {
        if (const auto found = unresolved.find(frame); found != unresolved.end()) {
          frame = found->second;
        }
      }
      stacks[std::move(stack)].Add(amount);
    }
    sums.stacks = std::move(stacks);
  }
  return renamed;
}

// Returns the number of samples; for plain values, their sum.
double SamplesOf(const Amount& amount) {
  return std::abs(static_cast<double>(amount.samples != 0 ? amount.samples : amount.weight));
}

Observation Observe(const Amount& amount, const EventSums& sums, Measure measure) {
  if (measure == Measure::kWeight) {
    return ObservedSum(static_cast<double>(amount.weight), SamplesOf(amount));
  }
  return ObservedShare(static_cast<double>(amount.weight), static_cast<double>(sums.whole.weight),
                       SamplesOf(sums.whole));
}

// Computes the changes of one event.
class Comparison {
 public:
  Comparison(std::vector<EventSums> before, std::vector<EventSums> after, Measure measure)
      : before_(std::move(before)), after_(std::move(after)), measure_(measure) {}

  Change Total() const {
    return Of([](const EventSums& sums) { return sums.total; }, Measure::kWeight);
  }

  std::vector<FunctionChange> Functions(bool by_inclusive) const {
    std::vector<FunctionChange> changes;
    for (const FunctionKey& key : Keys(&EventSums::functions)) {
      const auto find = [&key](const EventSums& sums) {
        const auto found = sums.functions.find(key);
        return found == sums.functions.end() ? SelfAndInclusive() : found->second;
      };
      changes.push_back(
          {.function = key.first,
           .binary = key.second,
           .self = Of([&](const EventSums& sums) { return find(sums).self; }, measure_),
           .inclusive = Of([&](const EventSums& sums) { return find(sums).inclusive; }, measure_)});
    }
    SortByChange(changes, by_inclusive ? &FunctionChange::inclusive : &FunctionChange::self);
    return changes;
  }

  std::vector<StackChange> Stacks() const {
    std::vector<StackChange> changes;
    for (const StackKey& key : Keys(&EventSums::stacks)) {
      const auto find = [&key](const EventSums& sums) {
        const auto found = sums.stacks.find(key);
        return found == sums.stacks.end() ? Amount() : found->second;
      };
      changes.push_back({.frames = key, .self = Of(find, measure_)});
    }
    SortByChange(changes, &StackChange::self);
    return changes;
  }

 private:
  // `amount_of` returns the amount in a profile.
  template <class AmountOf>
  Change Of(AmountOf amount_of, Measure measure) const {
    return {.before = MeanOfAll(before_, amount_of, measure),
            .after = MeanOfAll(after_, amount_of, measure)};
  }

  template <class AmountOf>
  static Estimate MeanOfAll(const std::vector<EventSums>& all, AmountOf amount_of,
                            Measure measure) {
    std::vector<Observation> observations;
    for (const EventSums& sums : all) {
      observations.push_back(Observe(amount_of(sums), sums, measure));
    }
    return MeanOf(observations);
  }

  // Returns the keys of all profiles, each once, in order.
  template <class Map>
  std::vector<typename Map::key_type> Keys(Map EventSums::*map) const {
    std::vector<typename Map::key_type> keys;
    for (const auto* side : {&before_, &after_}) {
      for (const EventSums& sums : *side) {
        for (const auto& [key, amount] : sums.*map) keys.push_back(key);
      }
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }

  template <class SomeChange>
  static void SortByChange(std::vector<SomeChange>& changes, Change SomeChange::*key) {
    std::ranges::stable_sort(changes, std::greater(), [key](const SomeChange& change) {
      return std::abs((change.*key).difference().value);
    });
  }

  std::vector<EventSums> before_, after_;
  Measure measure_;
};

std::vector<EventSums> SumsOfEach(std::span<const Profile> profiles, std::string_view event,
                                  const CompareOptions& options) {
  std::vector<EventSums> all;
  for (const Profile& profile : profiles) {
    all.push_back(SumsOf(profile, event, options));
  }
  return all;
}

std::int64_t SumOfSamples(const std::vector<EventSums>& all) {
  std::int64_t sum = 0;
  for (const EventSums& sums : all) {
    sum = convert::AddUpToLimit(sum, sums.total.samples);
  }
  return sum;
}

// Returns the names and units of the events with samples, in the order of the profiles.
std::vector<std::pair<std::string, std::string>> EventsOf(std::span<const Profile> before,
                                                          std::span<const Profile> after) {
  std::vector<std::pair<std::string, std::string>> events;
  for (const auto side : {before, after}) {
    for (const Profile& profile : side) {
      std::vector<bool> has_samples(profile.events().size());
      for (const convert::Sample& sample : profile.samples()) {
        has_samples[sample.event.index] = true;
      }
      for (std::uint32_t i = 0; i < has_samples.size(); ++i) {
        const convert::Event& event = profile[EventId{i}];
        const std::string name(profile.text(event.name));
        const bool is_known =
            std::ranges::any_of(events, [&name](const auto& known) { return known.first == name; });
        if (has_samples[i] && !is_known) events.emplace_back(name, profile.text(event.unit));
      }
    }
  }
  return events;
}

}  // namespace

std::vector<EventDifference> Compare(std::span<const Profile> before,
                                     std::span<const Profile> after,
                                     const CompareOptions& options) {
  std::vector<EventDifference> differences;
  for (const auto& [event, unit] : EventsOf(before, after)) {
    std::vector<EventSums> earlier = SumsOfEach(before, event, options);
    std::vector<EventSums> later = SumsOfEach(after, event, options);
    RenamedBinaries renamed = Rename(earlier, later);
    EventDifference difference = {.event = event,
                                  .unit = unit,
                                  .total = {},
                                  .samples_before = SumOfSamples(earlier),
                                  .samples_after = SumOfSamples(later),
                                  .renamed = std::move(renamed),
                                  .functions = {},
                                  .stacks = {}};
    const Comparison comparison(std::move(earlier), std::move(later), options.measure);
    difference.total = comparison.Total();
    difference.functions = comparison.Functions(options.by_inclusive);
    difference.stacks = comparison.Stacks();
    differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace perftape::summarize
