// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/filter.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "convert/model/hybrid_events.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/unknown_name.h"

namespace perftape::convert {
namespace {

// The filter that drops something; nothing if it passes all filters.
using Verdict = std::optional<Filter>;

bool Passes(const Globs& globs, std::string_view name) {
  return globs.empty() || globs.Match(name);
}

template <class Number>
bool Passes(const std::set<std::int64_t>& wanted, std::optional<Number> number) {
  return wanted.empty() || (number && wanted.contains(std::int64_t{*number}));
}

// "cycles" also means "cpu_core/cycles/" and "cpu_atom/cycles/".
bool PassesEvent(const Globs& wanted, std::string_view name) {
  if (Passes(wanted, name)) return true;
  const std::string on_all_cores = NameOnAllCores(name);
  return !on_all_cores.empty() && Passes(wanted, on_all_cores);
}

// The verdicts on events, threads and labels, each computed once.
class SampleVerdicts {
 public:
  SampleVerdicts(const Profile& profile, const FilterOptions& options)
      : profile_(profile), options_(options) {
    for (const Event& event : profile.events()) {
      of_events_.push_back(PassesEvent(options.events, profile.text(event.name)));
    }
    for (std::uint32_t i = 0; i < profile.threads().size(); ++i) {
      of_threads_.push_back(OfThread(ThreadOf(profile, Sample{.thread = {i}})));
    }
    for (std::uint32_t i = 0; i < profile.labels().size(); ++i) {
      of_labels_.push_back(OfLabels(LabelsId{i}));
      of_threads_in_labels_.push_back(OfThread(ThreadOf(profile, Sample{.labels = {i}})));
    }
  }

  Verdict Of(const Sample& sample) const {
    if (!of_events_[sample.event.index]) return Filter::kEvent;
    const Verdict of_thread = sample.thread == ThreadId{}
                                  ? of_threads_in_labels_[sample.labels.index]
                                  : of_threads_[sample.thread.index];
    return of_thread ? of_thread : of_labels_[sample.labels.index];
  }

 private:
  Verdict OfThread(const SampleThread& thread) const {
    if (!Passes(options_.comms, thread.comm)) return Filter::kComm;
    if (!Passes(options_.pids, Signed(thread.pid))) return Filter::kPid;
    if (!Passes(options_.tids, Signed(thread.tid))) return Filter::kTid;
    return {};
  }

  Verdict OfLabels(LabelsId labels) const {
    const Label* cpu = options_.cpus.empty() ? nullptr : FindLabel(profile_, labels, kCpuLabel);
    const auto number = cpu == nullptr ? std::nullopt : std::optional(cpu->number);
    if (!Passes(options_.cpus, number)) return Filter::kCpu;
    if (options_.cgroups.empty()) return {};
    const Label* cgroup = FindLabel(profile_, labels, kCgroupLabel);
    const bool passes = cgroup != nullptr && options_.cgroups.Match(profile_.text(cgroup->text));
    return passes ? Verdict() : Filter::kCgroup;
  }

  // perf writes -1 for "no such process".
  static std::optional<std::int32_t> Signed(std::optional<std::uint32_t> id) {
    return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
  }

  const Profile& profile_;
  const FilterOptions& options_;
  std::vector<bool> of_events_;
  std::vector<Verdict> of_threads_, of_labels_, of_threads_in_labels_;
};

// The verdicts on stacks, by the names of their frames.
class StackVerdicts {
 public:
  StackVerdicts(const Profile& profile, const FilterOptions& options)
      : profile_(profile), options_(options) {
    if (options.focus || options.ignore) FindMatches();
  }

  Verdict Of(StackId id) const {
    if (!options_.dsos.empty() && !IsInDso(id)) return Filter::kDso;
    if (!options_.symbols.empty() && !IsInSymbol(id)) return Filter::kSymbol;
    if (options_.focus && !focused_[id.index]) return Filter::kFocus;
    if (options_.ignore && ignored_[id.index]) return Filter::kIgnore;
    return {};
  }

 private:
  bool IsInDso(StackId id) const {
    if (id == StackId{}) return false;
    const Mapping& mapping = profile_[profile_[profile_[id].leaf].mapping];
    const std::string_view path = profile_.text(mapping.filename);
    return options_.dsos.MatchPath(path.empty() ? kUnknownName : path);
  }

  bool IsInSymbol(StackId id) const {
    if (id == StackId{}) return false;
    const Location& leaf = profile_[profile_[id].leaf];
    if (leaf.lines.empty()) return options_.symbols.Match(kUnknownName);
    return options_.symbols.Match(profile_.text(profile_[leaf.lines.front().function].name));
  }

  // Same as matchesName in google/pprof's profile/filter.go.
  bool Matches(const Location& location, const NameRegex& regex) const {
    for (const Line& line : location.lines) {
      const Function& function = profile_[line.function];
      if (regex.Find(profile_.text(function.name))) return true;
      if (regex.Find(profile_.text(function.filename))) return true;
    }
    return location.mapping != MappingId{} &&
           regex.Find(profile_.text(profile_[location.mapping].filename));
  }

  // Returns which stacks have a frame that matches.
  std::vector<bool> HaveMatch(const std::optional<NameRegex>& regex) const {
    if (!regex) return {};
    std::vector<bool> locations;
    for (const Location& location : profile_.locations()) {
      locations.push_back(Matches(location, *regex));
    }
    std::vector<bool> stacks(profile_.stacks().size());
    for (std::size_t i = 1; i < stacks.size(); ++i) {  // callers first
      const Stack& stack = profile_.stacks()[i];
      stacks[i] = stacks[stack.caller.index] || locations[stack.leaf.index];
    }
    return stacks;
  }

  void FindMatches() {
    focused_ = HaveMatch(options_.focus);
    ignored_ = HaveMatch(options_.ignore);
  }

  const Profile& profile_;
  const FilterOptions& options_;
  std::vector<bool> focused_, ignored_;
};

// Sets the copy of each stack to one without the frames to leave out.
void CutFrames(const Profile& profile, const FilterOptions& options, ProfileBuilder& builder,
               ProfileCopier& copier) {
  if (!options.no_kernel && !options.no_user && !options.max_depth) return;
  std::vector<std::uint32_t> depths(profile.stacks().size());
  for (std::uint32_t i = 1; i < profile.stacks().size(); ++i) {  // callers first
    const Stack& stack = profile.stacks()[i];
    const Location& leaf = profile[stack.leaf];
    const bool is_kernel = profile[leaf.mapping].type == MappingType::kKernel;
    const std::uint32_t above = depths[stack.caller.index];
    const bool is_cut = (is_kernel ? options.no_kernel : options.no_user) ||
                        (options.max_depth && above >= *options.max_depth);
    depths[i] = is_cut ? above : above + 1;
    const StackId caller = copier.Copy(stack.caller);
    copier.Set(StackId{i}, is_cut ? caller : builder.Push(caller, copier.Copy(stack.leaf)));
  }
}

std::vector<EventTotals> NoTotals(const Profile& profile) {
  std::vector<EventTotals> totals;
  for (const Event& event : profile.events()) {
    totals.push_back({.name = std::string(profile.text(event.name)),
                      .unit = std::string(profile.text(event.unit)),
                      .values = event.values,
                      .decimals = event.decimals});
  }
  return totals;
}

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

// The filter --min-percent: cuts off each frame with less than `percent` of the period of each
// event, together with its callees. Its samples are then the caller's. Frames are joined before if
// they and all their callers have equal names, whatever their addresses. A sample without frames
// left is dropped: in the report it moves from kept to Filter::kMinPercent. The report must be of a
// profile with at least these events.
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

}  // namespace

bool FilterOptions::changes_anything() const {
  return !events.empty() || !comms.empty() || !cgroups.empty() || !pids.empty() || !tids.empty() ||
         !cpus.empty() || !dsos.empty() || !symbols.empty() || focus || ignore || cuts_frames();
}

void Total::Add(const Sample& sample) {
  samples = AddUpToLimit(samples, sample.count);
  period = AddUpToLimit(period, sample.period);
}

FilterReport TotalsOf(const Profile& profile) {
  FilterReport report = {.events = NoTotals(profile)};
  for (const Sample& sample : profile.samples()) report.events[sample.event.index].read.Add(sample);
  for (EventTotals& event : report.events) event.kept = event.read;
  return report;
}

struct FilterJudge::Parts {
  SampleVerdicts of_samples;
  StackVerdicts of_stacks;
};

FilterJudge::FilterJudge(const Profile& profile, const FilterOptions& options)
    : parts_(std::make_unique<const Parts>(SampleVerdicts(profile, options),
                                           StackVerdicts(profile, options))) {}
FilterJudge::~FilterJudge() = default;

std::optional<Filter> FilterJudge::Of(const Sample& sample) const {
  const Verdict verdict = parts_->of_samples.Of(sample);
  return verdict ? verdict : parts_->of_stacks.Of(sample.stack);
}

Profile ApplyFilter(const Profile& profile, const FilterOptions& options, FilterReport& report) {
  report.events = NoTotals(profile);
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (PassesEvent(options.events, report.events[i].name)) copier.Copy(EventId{i});
  }
  const FilterJudge judge(profile, options);
  CutFrames(profile, options, builder, copier);
  const Filter cutter = options.no_kernel ? Filter::kNoKernel : Filter::kNoUser;
  for (const Sample& sample : profile.samples()) {
    EventTotals& totals = report.events[sample.event.index];
    totals.read.Add(sample);
    Verdict verdict = judge.Of(sample);
    if (!verdict && sample.stack != StackId{} && copier.Copy(sample.stack) == StackId{}) {
      verdict = cutter;
    }
    if (verdict) {
      totals.dropped[static_cast<std::size_t>(*verdict)].Add(sample);
      continue;
    }
    totals.kept.Add(sample);
    builder.Add(copier.Copy(sample));
  }
  builder.SetMetadata(profile.metadata());
  const Profile kept = std::move(builder).Finish();
  return options.min_percent > 0 ? CutSmallFrames(kept, options.min_percent, report) : kept;
}

}  // namespace perftape::convert
