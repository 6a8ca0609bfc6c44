// SPDX-License-Identifier: Apache-2.0
#include "convert/combine.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "convert/filter/dropped_frames.h"
#include "convert/foreign_input.h"
#include "convert/model/hybrid_events.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/symbolize/perf_map_symbolizer.h"
#include "convert/symbolize/readable_names.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

// Returns the event to keep for one_value; nothing if no event matches, or if the profile has no
// events.
std::optional<EventId> ChooseEvent(const Profile& profile, const Globs& events) {
  if (events.empty()) return DefaultEvent(profile);
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (events.Match(profile.text(profile[EventId{i}].name))) return EventId{i};
  }
  return {};
}

// Returns the samples of one event.
Profile OnlyEvent(const Profile& profile, EventId event) {
  if (profile.events().size() == 1) return profile;
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  copier.Copy(event);
  for (const Sample& sample : profile.samples()) {
    if (sample.event == event) builder.Add(copier.Copy(sample));
  }
  builder.SetMetadata(profile.metadata());
  return std::move(builder).Finish();
}

std::vector<std::string> SampledEventsBut(const Profile& profile, std::optional<EventId> chosen) {
  std::vector<bool> has_samples(profile.events().size());
  for (const Sample& sample : profile.samples()) has_samples[sample.event.index] = true;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < has_samples.size(); ++i) {
    if (!has_samples[i] || chosen == EventId{i}) continue;
    names.emplace_back(profile.text(profile[EventId{i}].name));
  }
  return names;
}

// Returns the samples of `event` as plain values of an event `name`, with the same stacks, threads
// and labels.
Profile PlainValuesOf(const Profile& profile, EventId event, FoldedValue value,
                      std::string_view name) {
  const Event& from = profile[event];
  const bool is_count = from.values == EventValues::kSampled && value == FoldedValue::kSamples;
  ProfileBuilder builder;
  ProfileCopier copier(profile, builder);
  copier.Set(event, builder.Add(Event{.name = builder.Add(name),
                                      .unit = builder.Add("count"),
                                      .values = EventValues::kPlain,
                                      .decimals = from.decimals}));
  for (const Sample& sample : profile.samples()) {
    const std::int64_t number = is_count ? sample.count : sample.period;
    if (sample.event != event || (number == 0 && from.values == EventValues::kSampled)) continue;
    Sample plain = copier.Copy(sample);
    plain.period = number;
    plain.count = 0;
    builder.Add(plain);
  }
  builder.SetMetadata(profile.metadata());
  return std::move(builder).Finish();
}

// Returns the number in which each event is added to those of other inputs.
std::vector<FoldedValue> ChooseCommonValues(const Profile& profile,
                                            std::optional<FoldedValue> given) {
  bool has_plain = false, are_times = true;
  std::vector<EventId> events;
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    const Event& event = profile.events()[i];
    has_plain |= event.values == EventValues::kPlain;
    are_times &= profile.text(event.unit) == perfdata::kNanoseconds;
    events.push_back(EventId{i});
  }
  // Folded lines have the number that their recording would have.
  if (has_plain) return ChooseValues(profile, given);
  const FoldedValue of_all =
      are_times ? ChooseValue(profile, given, events) : given.value_or(FoldedValue::kSamples);
  return std::vector(events.size(), of_all);
}

// Returns the profile with one event instead of several.
Profile AddUpEvents(const Profile& profile, std::optional<FoldedValue> given) {
  const std::vector<FoldedValue> values = ChooseCommonValues(profile, given);
  // One name for all, so that they become one event.
  const bool are_samples =
      std::ranges::all_of(values, [](FoldedValue value) { return value == FoldedValue::kSamples; });
  Merger merger;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    merger.Add(PlainValuesOf(profile, EventId{i}, values[i], are_samples ? "samples" : "period"));
  }
  return std::move(merger).Finish();
}

// Whether work on it is worth a thread of its own.
bool IsLargeFile(const Input& input) {
  constexpr std::size_t kLarge = std::size_t{16} << 20;
  return !input.is_stream() && input.beginning().size() >= kLarge;
}

}  // namespace

Result<const Format*> FormatOf(const Input& input, const Format* given) {
  if (given != nullptr) return given;
  if (const auto foreign = DescribeForeign(input)) {
    return Fail(ErrorCode::kUnsupported, input.name() + ": " + *foreign);
  }
  if (const Format* from = DetectFormat(input)) return from;
  if (const auto unread = DescribeUnread(input)) {
    return Fail(ErrorCode::kUnsupported, input.name() + ": " + *unread);
  }
  std::string reason = "the file is empty";
  if (!input.beginning().empty()) {
    reason = "its first bytes match no supported format; the supported formats are:";
    for (const Format& format : AllFormats()) {
      if (format.read != nullptr)
        reason += (reason.ends_with(':') ? " " : ", ") + std::string(format.name);
    }
    reason += "; if it has one of these formats, give its name to --from";
  }
  return Fail(ErrorCode::kUnsupported, input.name() + ": at 0x0: " + std::string(reason));
}

// Called only if the recording maps a jitdump. Its bundle is opened once, for all jitdumps and for
// names.
Result<JitDumpBytes> Combiner::FindDump(Input& input,
                                        std::optional<symbolize::ProfileOrigin>& origin,
                                        const std::string& path, std::uint32_t pid) {
  TRY_ASSIGN(symbolize::SymbolSources* const sources, Sources());
  if (!origin) origin.emplace(input);
  origin->LearnLives(std::span(&pid, 1));
  TRY_ASSIGN(symbolize::FoundJitFile file,
             symbolize::FindJitDump(path, pid, sources->JitSearchPathOf(*origin)));
  return JitDumpBytes{
      .bytes = file.bytes, .keeper = std::move(file.keeper), .own_pid = file.own_pid};
}

// Called only if the recording has stacks to unwind.
Result<const elf::ElfFile*> Combiner::FindBinary(Input& input,
                                                 std::optional<symbolize::ProfileOrigin>& origin,
                                                 symbolize::SymbolSources::BinaryFinder& find,
                                                 const std::string& path, const BuildId& build_id) {
  if (!find) {
    TRY_ASSIGN(symbolize::SymbolSources* const sources, Sources());
    if (!origin) origin.emplace(input);
    find = sources->BinariesOf(*origin);
  }
  return find(path, build_id);
}

// While a large recording is read, another thread can read the symbols of its kernel.
Status Combiner::ReadKernelAhead(Input& input, std::optional<symbolize::ProfileOrigin>& origin) {
  if (options_.import.threads < 2 || !IsLargeFile(input)) return {};
  TRY_ASSIGN(symbolize::SymbolSources* const sources, Sources());
  if (!origin) origin.emplace(input);
  sources->ReadKernelAhead(*origin);
  return {};
}

// While samples become a profile, on one thread, another can read the names of their binaries.
void Combiner::ReadNamesAhead() {
  if (options_.import.threads > 1 && sources_) sources_->ReadNamesAhead();
}

Status Combiner::Add(Input input) {
  const Status status = AddOpen(input);
  CloseInBackground(std::move(input));
  return status;
}

// Names are looked up meanwhile.
void Combiner::CloseInBackground(Input input) {
  if (!IsLargeFile(input)) return;
  try {
    closing_ = std::async(
        std::launch::async,
        [closed = std::make_unique<Input>(std::move(input))]() mutable { closed.reset(); });
  } catch (const std::system_error&) {
    // The system has no more threads.
  }
}

Status Combiner::AddOpen(Input& input) {
  TRY_ASSIGN(const Format* format, FormatOf(input, options_.from));
  InputReport report = {.name = input.name(), .format = format->name, .read = {}};
  ImportOptions import = options_.import;
  std::optional<symbolize::ProfileOrigin> opened;
  symbolize::SymbolSources::BinaryFinder find_binary;
  if (options_.look_up_names && format->is_recording) {
    import.find_jit_dump =
        std::bind_front(&Combiner::FindDump, this, std::ref(input), std::ref(opened));
  }
  // Unwinding needs the binaries even if their names are not asked for.
  if (format->is_recording) {
    import.find_binary = std::bind_front(&Combiner::FindBinary, this, std::ref(input),
                                         std::ref(opened), std::ref(find_binary));
    import.index_cache = options_.symbols.index_cache;
  }
  if (options_.look_up_names && format->is_recording) {
    import.found_binaries = std::bind_front(&Combiner::ReadNamesAhead, this);
    TRY(ReadKernelAhead(input, opened));
  }
  Result<Profile> read = format->read(input, import, report.read);
  if (!read) return Fail(InContext(input.name(), std::move(read).error()));
  Profile profile = *std::move(read);
  if (options_.one_value) profile = KeepOneEvent(profile, report);
  inputs_.push_back(std::move(report));

  if (!options_.look_up_names || !(format->is_recording || options_.symbols.names_sources())) {
    // pprof demangles names when it shows them. A text has the names that its writer wanted.
    const bool is_shown_readable = !format->is_text || options_.symbols.demangling;
    named_.Add(is_shown_readable ? symbolize::DemangleNames(profile, options_.symbols.name_style())
                                 : profile);
    return {};
  }
  if (!opened && format->is_recording) opened.emplace(input);
  symbolize::ProfileOrigin origin = opened ? *std::move(opened) : symbolize::ProfileOrigin();
  origin.LearnLives(symbolize::ProcessesWithPerfMaps(profile));
  if (!origin.brings_names()) {
    nameless_[origin.machine()].Add(profile);
    return {};
  }
  TRY_ASSIGN(symbolize::SymbolSources* const sources, Sources());
  named_.Add(sources->Name(profile, std::move(origin), symbols_));
  return {};
}

Profile Combiner::KeepOneEvent(const Profile& read, InputReport& report) const {
  // An event of one type of cores can be chosen by its own name.
  const bool is_chosen = !options_.events.empty() && ChooseEvent(read, options_.events);
  const Profile profile = is_chosen ? read : JoinHybridEvents(read);
  const std::optional<EventId> event = ChooseEvent(profile, options_.events);
  report.other_events = SampledEventsBut(profile, event);
  if (!event) return Profile();
  report.event = profile.text(profile[*event].name);
  return OnlyEvent(profile, *event);
}

Result<symbolize::SymbolSources*> Combiner::Sources() {
  if (!sources_) {
    TRY_ASSIGN(sources_, symbolize::SymbolSources::Open(options_.symbols));
  }
  return &*sources_;
}

Result<Profile> Combiner::Finish() && {
  for (auto& [machine, merger] : nameless_) {
    TRY_ASSIGN(symbolize::SymbolSources* const sources, Sources());
    named_.Add(
        sources->Name(std::move(merger).Finish(), symbolize::ProfileOrigin(machine), symbols_));
  }
  Profile merged = std::move(named_).Finish();
  if (options_.dropped_frames == DroppedFrames::kRemoved) {
    auto shown = WithoutDroppedFrames(merged);
    if (!shown) return Fail(shown.error().code, shown.error().message + ": use --all-frames");
    merged = *std::move(shown);
  }
  const bool has_several = options_.one_value && merged.events().size() > 1;
  return has_several ? AddUpEvents(merged, options_.value) : std::move(merged);
}

}  // namespace perftape::convert
