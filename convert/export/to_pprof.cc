// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_pprof.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "convert/export/rank.h"
#include "convert/export/to_folded.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/folded/count.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/pprof/writer.h"

namespace perftape::convert {
namespace {

// Returns whether pprof would regard the mapping as the main program: it has a name, is a file and
// is not a shared library (google/pprof profile.go, massageMappings).
bool MayBeMain(const Profile& profile, const Mapping& mapping) {
  const std::string_view path = profile.text(mapping.filename);
  if (path.empty() || path.front() == '[' || path.starts_with("//")) return false;
  const std::string_view name = BaseName(path);
  const bool is_library = name.ends_with(".so") || name.contains(".so.") || name.contains(".so_");
  return mapping.type == MappingType::kUser && !is_library;
}

std::uint64_t WeightOf(const Profile& profile, const Sample& sample) {
  const bool is_sampled = profile[sample.event].values == EventValues::kSampled;
  const std::int64_t value = is_sampled ? sample.count : sample.period;
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// Returns the mapping of the main program: the one that is the outermost program of most samples.
// If no sample has one, returns the first mapping that can be a program, or no mapping if there is
// none. `order` has the indexes of all mappings; of equal candidates the first one in `order` wins.
// pprof regards the first mapping as the main program.
MappingId FindMainMapping(const Profile& profile, std::span<const std::uint32_t> order) {
  std::vector<bool> may_be_main;
  for (const Mapping& mapping : profile.mappings()) {
    may_be_main.push_back(MayBeMain(profile, mapping));
  }
  std::vector<MappingId> outermost = {{}};  // by StackId
  outermost.reserve(profile.stacks().size());
  for (const Stack& stack : profile.stacks().subspan(1)) {
    const MappingId of_caller = outermost[stack.caller.index];
    const MappingId own = profile[stack.leaf].mapping;
    const bool is_first = of_caller == MappingId{} && may_be_main[own.index];
    outermost.push_back(is_first ? own : of_caller);
  }
  std::vector<std::uint64_t> weights(profile.mappings().size());
  for (const Sample& sample : profile.samples()) {
    std::uint64_t& sum = weights[outermost[sample.stack.index].index];
    sum = AddUpToLimit(sum, WeightOf(profile, sample));
  }
  MappingId main;
  for (const std::uint32_t mapping : order) {
    if (!may_be_main[mapping]) continue;
    if (main == MappingId{} || weights[mapping] > weights[main.index]) main = {mapping};
  }
  return main;
}

// perf writes all ones for "no such process".
std::int64_t ToNumber(std::uint32_t pid) {
  return static_cast<std::int32_t>(pid);
}

struct ThreadKeys {
  pprof::StringIndex pid = 0, tid = 0, comm = 0;
};

// The ids of a table's entries in the file: 1, 2, … in their order, 0 for entries left out.
using FileIds = std::vector<std::uint64_t>;

class PprofExport {
 public:
  PprofExport(const Profile& profile, const PprofOptions& options)
      : profile_(profile), options_(options), ranks_(RankAll(profile)) {}

  Result<std::vector<std::byte>> Run() && {
    ChooseColumns();
    ChooseLabels();
    NumberWhatIsUsed();
    AddHeader();
    AddMappings();
    AddFunctions();
    AddLocations();
    AddSamples();
    if (options_.compression == PprofCompression::kNone) return std::move(writer_).FinishPlain();
    return std::move(writer_).Finish(options_.level);
  }

 private:
  pprof::StringIndex Text(StringId id) {
    std::optional<pprof::StringIndex>& known = texts_[id.index];
    if (!known) known = writer_.Text(profile_.text(id));
    return *known;
  }

  void ChooseColumns();
  void ChooseLabels();
  void NumberWhatIsUsed();
  void AddGoTypes(const Event& event, pprof::Header& header);
  void AddHeader();
  void AddMappings();
  void AddFunctions();
  void AddLocations();
  std::vector<std::uint32_t> SamplesByStack(std::vector<std::uint32_t>& first) const;
  void AddSamples();
  void AddRows(std::span<const std::uint32_t> samples);
  void AddStackTo(StackId stack, pprof::Sample& sample) const;
  void RoundDecimals(std::vector<std::int64_t>& values) const;
  void AddTo(std::vector<std::int64_t>& values, const Sample& sample) const;
  void AddThreadTo(const Thread& thread, pprof::Sample& sample);
  void AddLabelsTo(std::span<const Label> labels, pprof::Sample& sample);

  const Profile& profile_;
  const PprofOptions& options_;
  const Ranks ranks_;
  pprof::Writer writer_;
  std::vector<std::optional<pprof::StringIndex>> texts_ =
      std::vector<std::optional<pprof::StringIndex>>(profile_.texts().size());
  std::vector<std::size_t> columns_;  // by event: the index of its first value in a sample
  std::size_t column_count_ = 0;
  const std::vector<EventId> lossy_ = LossyEvents(profile_);
  std::vector<std::vector<Label>> chosen_labels_;   // of sets that are not written completely
  std::vector<std::span<const Label>> label_sets_;  // as written
  std::vector<std::uint32_t> label_ranks_;          // of label_sets_
  FileIds mappings_, functions_, locations_;

  std::optional<ThreadKeys> thread_keys_;  // set at the first thread

  // Scratch of AddRows.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> rows_;
  pprof::Sample written_;
};

void PprofExport::ChooseColumns() {
  for (const Event& event : profile_.events()) {
    columns_.push_back(column_count_);
    column_count_ += event.values == EventValues::kSampled ? 2 : 1;
  }
}

void PprofExport::ChooseLabels() {
  label_sets_.assign(profile_.labels().begin(), profile_.labels().end());
  if (options_.thread_labels) {
    label_ranks_ = ranks_.labels;
    return;
  }
  const auto is_of_thread = [&](const Label& label) {
    const std::string_view key = profile_.text(label.key);
    return IsThreadLabel(key) || IsWokenLabel(key);
  };
  for (std::span<const Label>& set : label_sets_) {
    std::vector<Label>& chosen = chosen_labels_.emplace_back(set.begin(), set.end());
    std::erase_if(chosen, is_of_thread);
    set = chosen;
  }
  label_ranks_ = RankLabels(label_sets_, profile_);
}

// Numbers the entries whose value in `used` is not 0.
FileIds Number(FileIds used, const std::vector<std::uint32_t>& order) {
  std::uint64_t last = 0;
  for (const std::uint32_t i : order) {
    if (used[i] != 0) used[i] = ++last;
  }
  return used;
}

// Returns the indexes of the entries that have a number, in the order of the numbers.
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
  const MappingId main = FindMainMapping(profile_, main_first);
  if (main != MappingId{}) mappings_[main.index] = 1;
  const auto first = std::ranges::find(main_first, main.index);
  std::rotate(main_first.begin(), first, first + 1);
  mappings_ = Number(std::move(mappings_), main_first);
  functions_ = Number(std::move(functions_), InOrder(ranks_.functions));
  locations_ = Number(std::move(locations_), InOrder(ranks_.locations));
}

// Whether the nanoseconds of the event are "cpu" to Go's compiler: time on a CPU, or plain values
// of an unknown meaning.
bool IsCpuTimeOfGo(const Profile& profile, const Event& event) {
  if (profile.text(event.unit) != perfdata::kNanoseconds) return false;
  const auto meaning = perfdata::PeriodMeaningOf(profile.text(event.name));
  if (meaning == perfdata::PeriodMeaning::kCpuTime) return true;
  return event.values == EventValues::kPlain && meaning == perfdata::PeriodMeaning::kOther;
}

// Adds the types of the event for Go's compiler. Viewers show the last of them by default, or the
// number of samples if the metadata names it.
void PprofExport::AddGoTypes(const Event& event, pprof::Header& header) {
  const bool is_sampled = event.values == EventValues::kSampled;
  const bool is_count = !is_sampled && profile_.text(event.unit) == perfdata::kCount;
  const auto add = [&](pprof::StringIndex type, pprof::StringIndex unit) {
    header.sample_types.push_back({type, unit});
    header.default_sample_type = type;
  };
  if (is_sampled || is_count) add(writer_.Text("samples"), writer_.Text(perfdata::kCount));
  if (is_count) return;
  const pprof::StringIndex samples = header.default_sample_type;
  add(IsCpuTimeOfGo(profile_, event) ? writer_.Text("cpu") : Text(event.name), Text(event.unit));
  const std::string counts = std::string(profile_.text(event.name)) + "_sample";
  if (is_sampled && profile_.metadata().default_value == counts)
    header.default_sample_type = samples;
}

void PprofExport::AddHeader() {
  const Metadata& metadata = profile_.metadata();
  const std::optional<EventId> of_go =
      options_.types == PprofTypes::kGo ? DefaultEvent(profile_) : std::nullopt;
  pprof::Header header = {.drop_frames = writer_.Text(metadata.drop_frames),
                          .keep_frames = writer_.Text(metadata.keep_frames),
                          .time_nanos = metadata.start_time_ns.value_or(0),
                          .duration_nanos = metadata.duration_ns,
                          .doc_url = writer_.Text(metadata.doc_url)};
  if (!of_go) header.default_sample_type = writer_.Text(metadata.default_value);
  for (std::uint32_t i = 0; i < profile_.events().size(); ++i) {
    const Event& event = profile_.events()[i];
    if (of_go == EventId{i}) {
      AddGoTypes(event, header);
      header.period_type = {Text(event.name), Text(event.unit)};
      header.period = ToSigned(event.period);
      continue;
    }
    if (event.values == EventValues::kPlain) {
      header.sample_types.push_back({Text(event.name), Text(event.unit)});
      continue;
    }
    const std::string name(profile_.text(event.name));
    header.sample_types.push_back({writer_.Text(name + "_sample"), writer_.Text("count")});
    header.sample_types.push_back({writer_.Text(name + "_event"), Text(event.unit)});
    if (of_go) continue;
    // The last sampled event wins: pprof shows its type by default.
    header.period_type = {Text(event.name), Text(event.unit)};
    header.period = ToSigned(event.period);
  }
  if (const std::optional<ValueType>& type = metadata.period_type) {
    header.period_type = {writer_.Text(type->name), writer_.Text(type->unit)};
    if (*type == ValueType{}) header.period_type.reset();
    header.period = metadata.period;
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
    writer_.Add(pprof::Function{.id = functions_[i],
                                .name = Text(function.name),
                                .system_name = Text(function.system_name),
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
    const bool has_offset = options_.symbol_offsets && location.symbol_offset;
    written.symbol_offset = has_offset ? *location.symbol_offset + 1 : 0;
    written.lines.clear();
    for (const Line& line : location.lines) {
      written.lines.push_back({functions_[line.function.index], line.number, line.column});
    }
    writer_.Add(written);
  }
}

// Sorts samples by the rank of their stack. The samples of rank r are [first[r], first[r + 1]).
std::vector<std::uint32_t> PprofExport::SamplesByStack(std::vector<std::uint32_t>& first) const {
  const auto rank_of = [&](const Sample& sample) { return ranks_.stacks[sample.stack.index]; };
  const std::span<const Sample> samples = profile_.samples();
  first.assign(profile_.stacks().size() + 1, 0);
  for (const Sample& sample : samples) ++first[rank_of(sample) + 1];
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> next = first;
  std::vector<std::uint32_t> sorted(samples.size());
  for (std::uint32_t i = 0; i < samples.size(); ++i) sorted[next[rank_of(samples[i])]++] = i;
  return sorted;
}

void PprofExport::AddSamples() {
  std::vector<std::uint32_t> first;
  const std::vector<std::uint32_t> sorted = SamplesByStack(first);
  for (std::size_t stack = 0; stack + 1 < first.size(); ++stack) {
    AddRows(std::span(sorted).subspan(first[stack], first[stack + 1] - first[stack]));
  }
}

// Adds samples of one stack. Those of one thread and set of labels are one row, for all events.
void PprofExport::AddRows(std::span<const std::uint32_t> samples) {
  rows_.clear();
  for (const std::uint32_t i : samples) {
    const Sample& sample = profile_.samples()[i];
    const std::uint64_t thread = options_.thread_labels ? ranks_.threads[sample.thread.index] : 0;
    rows_.emplace_back(thread << 32 | label_ranks_[sample.labels.index], i);
  }
  std::ranges::sort(rows_);
  for (auto it = rows_.begin(); it != rows_.end();) {
    const std::uint64_t key = it->first;
    const Sample& first = profile_.samples()[it->second];
    written_.values.assign(column_count_, 0);
    for (; it != rows_.end() && it->first == key; ++it) {
      AddTo(written_.values, profile_.samples()[it->second]);
    }
    RoundDecimals(written_.values);
    AddStackTo(first.stack, written_);
    written_.labels.clear();
    if (options_.thread_labels && first.thread != ThreadId{}) {
      AddThreadTo(profile_[first.thread], written_);
    }
    AddLabelsTo(label_sets_[first.labels.index], written_);
    writer_.Add(written_);
  }
}

void PprofExport::AddTo(std::vector<std::int64_t>& values, const Sample& sample) const {
  std::size_t column = columns_[sample.event.index];
  if (profile_[sample.event].values == EventValues::kSampled) {
    values[column] = AddUpToLimit(values[column], sample.count);
    ++column;
  }
  values[column] = AddUpToLimit(values[column], sample.period);
}

void PprofExport::RoundDecimals(std::vector<std::int64_t>& values) const {
  for (const EventId event : lossy_) {
    std::int64_t& value = values[columns_[event.index]];
    value = folded::RoundFixed(value, profile_[event].decimals);
  }
}

void PprofExport::AddStackTo(StackId stack, pprof::Sample& sample) const {
  sample.location_ids.clear();
  for (; stack != StackId{}; stack = profile_[stack].caller) {
    sample.location_ids.push_back(locations_[profile_[stack].leaf.index]);
  }
}

void PprofExport::AddThreadTo(const Thread& thread, pprof::Sample& sample) {
  if (!thread_keys_) {
    thread_keys_ = {.pid = writer_.Text(kPidLabel),
                    .tid = writer_.Text(kTidLabel),
                    .comm = writer_.Text(kCommLabel)};
  }
  const auto [pid, tid, comm] = *thread_keys_;
  if (thread.pid != kUnknownId) {
    sample.labels.push_back({.key = pid, .num = ToNumber(thread.pid), .num_unit = pid});
  }
  if (thread.tid != kUnknownId) {
    sample.labels.push_back({.key = tid, .num = ToNumber(thread.tid), .num_unit = tid});
  }
  if (thread.comm == StringId{}) return;
  sample.labels.push_back({.key = comm, .str = Text(thread.comm)});
}

void PprofExport::AddLabelsTo(std::span<const Label> labels, pprof::Sample& sample) {
  for (const Label& label : labels) {
    sample.labels.push_back({.key = Text(label.key),
                             .str = Text(label.text),
                             .num = label.number,
                             .num_unit = Text(label.unit)});
  }
}

}  // namespace

std::vector<EventId> LossyEvents(const Profile& profile) {
  std::vector<EventId> lossy;
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (profile.events()[i].decimals > 0) lossy.push_back({i});
  }
  return lossy;
}

Result<std::vector<std::byte>> EncodePprof(const Profile& profile, const PprofOptions& options) {
  return PprofExport(profile, options).Run();
}

Status WritePprof(const Profile& profile, const PprofOptions& options, OutputFile& out) {
  TRY_ASSIGN(const std::vector<std::byte> file, EncodePprof(profile, options));
  return out.Write(file);
}

}  // namespace perftape::convert
