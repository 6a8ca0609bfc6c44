// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_pprof.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "convert/export/rank.h"
#include "convert/model/saturating.h"
#include "formats/pprof/writer.h"

namespace perftape {
namespace {

// perf's "no such process" is all ones.
std::int64_t ToNumber(std::uint32_t pid) {
  return static_cast<std::int32_t>(pid);
}

// Whether pprof would take a mapping of this name for the main program: what has a name, is a file,
// and no shared library (google/pprof profile.go, massageMappings).
bool MayBeMain(const Profile& profile, const Mapping& mapping) {
  const std::string_view path = profile.text(mapping.filename);
  if (path.empty() || path.front() == '[' || path.starts_with("//")) return false;
  const std::string_view name = BaseName(path);
  const bool is_library = name.ends_with(".so") || name.contains(".so.") || name.contains(".so_");
  return mapping.kind == MappingKind::kUser && !is_library;
}

// The program that most samples have as their outermost one; no mapping where there is none.
MappingId FindMain(const Profile& profile, const Ranks& ranks) {
  std::vector<MappingId> outermost = {{}};  // of each stack
  for (const Stack& stack : profile.stacks().subspan(1)) {
    const MappingId of_caller = outermost[stack.caller.index];
    const MappingId own = profile[stack.leaf].mapping;
    const bool is_first = of_caller == MappingId{} && MayBeMain(profile, profile[own]);
    outermost.push_back(is_first ? own : of_caller);
  }
  std::vector<std::uint64_t> samples(profile.mappings().size());
  for (const Sample& sample : profile.samples()) {
    std::uint64_t& sum = samples[outermost[sample.stack.index].index];
    sum = AddUpToLimit(sum, static_cast<std::uint64_t>(sample.count));
  }
  MappingId main;
  samples[0] = 0;
  for (const std::uint32_t mapping : InOrder(ranks.mappings)) {
    if (samples[mapping] > samples[main.index]) main = {mapping};
  }
  return main;
}

// The ids that things of a table get in the file: 1, 2, … in their order, 0 for what is left out.
using FileIds = std::vector<std::uint64_t>;

class PprofExport {
 public:
  PprofExport(const Profile& profile, const PprofOptions& options)
      : profile_(profile), options_(options), ranks_(RankAll(profile)) {}

  Result<std::vector<std::byte>> Run() && {
    FindSampledEvents();
    NumberWhatIsUsed();
    AddHeader();
    AddMappings();
    AddFunctions();
    AddLocations();
    AddSamples();
    return std::move(writer_).Finish();
  }

 private:
  pprof::StringIndex Text(StringId id) {
    std::optional<pprof::StringIndex>& known = texts_[id.index];
    if (!known) known = writer_.Text(profile_.text(id));
    return *known;
  }

  void FindSampledEvents();
  void NumberWhatIsUsed();
  void AddHeader();
  void AddMappings();
  void AddFunctions();
  void AddLocations();
  void AddSamples();
  void AddStackTo(StackId stack, pprof::Sample& sample) const;
  void AddLabelsTo(const Thread& thread, pprof::Sample& sample);

  const Profile& profile_;
  const PprofOptions& options_;
  const Ranks ranks_;
  pprof::Writer writer_;
  std::vector<std::optional<pprof::StringIndex>> texts_ =
      std::vector<std::optional<pprof::StringIndex>>(profile_.texts().size());
  std::vector<EventId> events_;              // that have samples, in their order
  std::vector<std::size_t> event_position_;  // in events_, of each event
  FileIds mappings_, functions_, locations_;
};

// A profile without samples shows which events there were.
void PprofExport::FindSampledEvents() {
  std::vector<bool> has_samples(profile_.events().size(), profile_.samples().empty());
  for (const Sample& sample : profile_.samples()) has_samples[sample.event.index] = true;
  for (std::uint32_t i = 0; i < has_samples.size(); ++i) {
    event_position_.push_back(events_.size());
    if (has_samples[i]) events_.push_back({i});
  }
}

// Numbers the things whose entry in `used` is not 0.
FileIds Number(FileIds used, const std::vector<std::uint32_t>& order) {
  std::uint64_t last = 0;
  for (const std::uint32_t i : order) {
    if (used[i] != 0) used[i] = ++last;
  }
  return used;
}

// The indices of the things that have a number, in its order.
std::vector<std::uint32_t> InFile(const FileIds& ids) {
  std::vector<std::uint32_t> order(ids.empty() ? 0 : std::ranges::max(ids));
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != 0) order[ids[i] - 1] = i;
  }
  return order;
}

void PprofExport::NumberWhatIsUsed() {
  std::vector<bool> stacks(profile_.stacks().size());
  for (const Sample& sample : profile_.samples()) stacks[sample.stack.index] = true;
  mappings_.resize(profile_.mappings().size());
  functions_.resize(profile_.functions().size());
  locations_.resize(profile_.locations().size());
  for (std::size_t i = stacks.size() - 1; i > 0; --i) {  // callees first
    if (!stacks[i]) continue;
    const Stack& stack = profile_.stacks()[i];
    stacks[stack.caller.index] = true;
    locations_[stack.leaf.index] = 1;
    const Location& location = profile_[stack.leaf];
    mappings_[location.mapping.index] = 1;
    for (const Line& line : location.lines) functions_[line.function.index] = 1;
  }
  mappings_[0] = 0;

  std::vector<std::uint32_t> main_first = InOrder(ranks_.mappings);
  const MappingId main = FindMain(profile_, ranks_);
  const auto place = std::ranges::find(main_first, main.index);
  std::rotate(main_first.begin(), place, place + 1);
  mappings_ = Number(std::move(mappings_), main_first);
  functions_ = Number(std::move(functions_), InOrder(ranks_.functions));
  locations_ = Number(std::move(locations_), InOrder(ranks_.locations));
}

void PprofExport::AddHeader() {
  const Metadata& metadata = profile_.metadata();
  pprof::Header header = {.time_nanos = metadata.start_time_ns.value_or(0),
                          .duration_nanos = metadata.duration_ns};
  for (const EventId id : events_) {
    const Event& event = profile_[id];
    const std::string name(profile_.text(event.name));
    header.sample_types.push_back({writer_.Text(name + "_sample"), writer_.Text("count")});
    header.sample_types.push_back({writer_.Text(name + "_event"), Text(event.unit)});
  }
  if (!events_.empty()) {
    // Of the type that is shown where none is asked for: the last.
    const Event& event = profile_[events_.back()];
    header.period_type = {Text(event.name), Text(event.unit)};
    header.period = ToSigned(event.period);
  }
  for (const std::string& comment : metadata.comments) {
    header.comments.push_back(writer_.Text(comment));
  }
  writer_.Add(header);
}

void PprofExport::AddMappings() {
  for (const std::uint32_t i : InFile(mappings_)) {
    const Mapping& mapping = profile_.mappings()[i];
    writer_.Add(pprof::Mapping{.id = mappings_[i],
                               .memory_start = mapping.start,
                               .memory_limit = mapping.limit,
                               .file_offset = mapping.file_offset,
                               .filename = Text(mapping.filename),
                               .build_id = Text(mapping.build_id),
                               .has_functions = mapping.names.functions,
                               .has_filenames = mapping.names.filenames,
                               .has_line_numbers = mapping.names.line_numbers,
                               .has_inline_frames = mapping.names.inline_frames});
  }
}

void PprofExport::AddFunctions() {
  for (const std::uint32_t i : InFile(functions_)) {
    const Function& function = profile_.functions()[i];
    const bool is_mangled = function.system_name != function.name;
    writer_.Add(pprof::Function{.id = functions_[i],
                                .name = Text(function.name),
                                .system_name = is_mangled ? Text(function.system_name) : 0,
                                .filename = Text(function.filename),
                                .start_line = function.start_line});
  }
}

void PprofExport::AddLocations() {
  pprof::Location written;
  for (const std::uint32_t i : InFile(locations_)) {
    const Location& location = profile_.locations()[i];
    written.id = locations_[i];
    written.mapping_id = mappings_[location.mapping.index];
    written.address = profile_.AddressOf(location).value;
    written.lines.clear();
    for (const Line& line : location.lines) {
      written.lines.push_back({functions_[line.function.index], line.number, line.column});
    }
    writer_.Add(written);
  }
}

void PprofExport::AddSamples() {
  // Samples of one stack and thread, of whatever event, are neighbours.
  const auto key = [&](const Sample& sample) {
    const std::uint32_t thread = ranks_.threads[sample.thread.index];
    return std::tuple(ranks_.stacks[sample.stack.index], options_.thread_labels ? thread : 0);
  };
  std::vector<Sample> samples(profile_.samples().begin(), profile_.samples().end());
  std::ranges::sort(samples, {}, key);

  pprof::Sample written;
  std::vector<std::int64_t> sums;
  for (auto it = samples.begin(); it != samples.end();) {
    const Sample& first = *it;
    sums.assign(events_.size() * 2, 0);
    for (; it != samples.end() && key(*it) == key(first); ++it) {
      const std::size_t at = event_position_[it->event.index] * 2;
      sums[at] = AddUpToLimit(sums[at], it->count);
      sums[at + 1] = AddUpToLimit(sums[at + 1], it->period);
    }
    written.values.clear();
    written.values = sums;
    AddStackTo(first.stack, written);
    if (options_.thread_labels) AddLabelsTo(profile_[first.thread], written);
    writer_.Add(written);
  }
}

void PprofExport::AddStackTo(StackId stack, pprof::Sample& sample) const {
  sample.location_ids.clear();
  for (; stack != StackId{}; stack = profile_[stack].caller) {
    sample.location_ids.push_back(locations_[profile_[stack].leaf.index]);
  }
}

void PprofExport::AddLabelsTo(const Thread& thread, pprof::Sample& sample) {
  const pprof::StringIndex pid = writer_.Text("pid");
  const pprof::StringIndex tid = writer_.Text("tid");
  sample.labels = {{.key = pid, .num = ToNumber(thread.pid), .num_unit = pid},
                   {.key = tid, .num = ToNumber(thread.tid), .num_unit = tid}};
  if (thread.comm == StringId{}) return;
  sample.labels.push_back({.key = writer_.Text("comm"), .str = Text(thread.comm)});
}

}  // namespace

Result<std::vector<std::byte>> EncodePprof(const Profile& profile, const PprofOptions& options) {
  return PprofExport(profile, options).Run();
}

Status WritePprof(const Profile& profile, const PprofOptions& options, OutputFile& out) {
  TRY_ASSIGN(const std::vector<std::byte> file, EncodePprof(profile, options));
  return out.Write(file);
}

}  // namespace perftape
