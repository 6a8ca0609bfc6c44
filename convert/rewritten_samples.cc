// SPDX-License-Identifier: Apache-2.0
#include "convert/rewritten_samples.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "convert/import/first_pass.h"
#include "convert/import/round_clock.h"
#include "convert/import/stack_copies.h"
#include "convert/symbolize/symbol_sources.h"
#include "convert/unwind/binary_tables.h"
#include "formats/base/input.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/reader.h"

namespace perftape::convert {
namespace {

// The binaries of one recording, from the sources that also give names.
class RecordingBinaries {
 public:
  // Opens nothing yet. The input must outlive this object.
  RecordingBinaries(Input& input, const symbolize::SymbolOptions& options)
      : input_(input), options_(options) {}
  RecordingBinaries(const RecordingBinaries&) = delete;
  RecordingBinaries& operator=(const RecordingBinaries&) = delete;

  // Returns a finder that this object must outlive. It opens the sources when it is first called.
  offline_unwind::BinaryFinder Finder() { return std::bind_front(&RecordingBinaries::Find, this); }

 private:
  Result<const elf::ElfFile*> Find(const std::string& path, const BuildId& build_id) {
    if (!find_) {
      TRY_ASSIGN(sources_, symbolize::SymbolSources::Open(options_));
      origin_.emplace(input_);
      find_ = sources_->BinariesOf(*origin_);
    }
    return find_(path, build_id);
  }

  Input& input_;
  symbolize::SymbolOptions options_;
  std::optional<symbolize::SymbolSources> sources_;
  std::optional<symbolize::ProfileOrigin> origin_;
  symbolize::SymbolSources::BinaryFinder find_;
};

}  // namespace

Result<Profile> ReadNamedByRecord(Input& input, const CombineOptions& options, ImportReport& report,
                                  RecordedSamples& samples) {
  RecordingBinaries binaries(input, options.symbols);
  ImportOptions import = options.import;
  import.find_binary = binaries.Finder();
  import.index_cache = options.symbols.index_cache;
  Result<Profile> profile = ReadPerfDataByRecord(input, import, report, samples);
  if (!profile) return Fail(InContext(input.name(), std::move(profile).error()));
  if (!options.look_up_names) return profile;
  symbolize::SymbolizeReport unused;
  return symbolize::SymbolizeFrom(*profile, options.symbols, symbolize::ProfileOrigin(input),
                                  unused);
}

Result<ChosenSamples> ChooseSamples(Input& input, const FilterOptions& filter,
                                    const CombineOptions& options) {
  if (filter.cuts_frames()) {
    return Fail(
        ErrorCode::kUnsupported,
        "filters that remove frames cannot be applied from perf.data to perf.data: convert to "
        "pprof first");
  }
  ChosenSamples chosen;
  RecordedSamples samples;
  CombineOptions read = options;
  read.look_up_names &= filter.needs_names();
  TRY_ASSIGN(const Profile profile, ReadNamedByRecord(input, read, chosen.read, samples));

  const FilterJudge judge(profile, filter);
  std::vector<bool> passes;
  for (const Sample& sample : samples.distinct) passes.push_back(!judge.Of(sample));
  for (const std::uint32_t index : samples.of_records) {
    chosen.kept.push_back(index != RecordedSamples::kNone && passes[index]);
  }
  ApplyFilter(profile, filter, chosen.filter);
  return chosen;
}

struct UnwoundChains::State {
  State(perfdata::Reader opened, Input& input, const CombineOptions& combine)
      : reader(std::move(opened)),
        binaries(input, combine.symbols),
        options(OptionsWith(binaries, combine)),
        first_pass(RunFirstPass(reader, options, ignored)),
        tables(options.find_binary, options.index_cache),
        unwinder(MakeUnwinder(reader, options, first_pass, tables, nullptr)),
        records(reader.records()),
        lookup(reader.events()) {}

  static ImportOptions OptionsWith(RecordingBinaries& binaries, const CombineOptions& combine) {
    ImportOptions options = combine.import;
    options.find_binary = binaries.Finder();
    options.index_cache = combine.symbols.index_cache;
    return options;
  }

  // Goes to the next SAMPLE record, and returns whether there is one.
  bool Step();

  const perfdata::Reader reader;
  RecordingBinaries binaries;
  const ImportOptions options;
  ImportReport ignored;  // the rewriter finds the same damage
  const FirstPass first_pass;
  offline_unwind::BinaryTables tables;
  offline_unwind::SampleUnwinder unwinder;
  perfdata::RecordCursor records;
  perfdata::EventLookup lookup;
  perfdata::EventLookup::Answer found;  // of the current record
  RoundClock clock;
  Epoch epoch = 0;  // of the current record
};

bool UnwoundChains::State::Step() {
  while (records.Step()) {
    found = lookup.Of(records.record());
    const SortKey key = clock.KeyOf(records.record(), found.time);
    if (records.record().type != perfdata::RecordType::kSample) continue;
    epoch = first_pass.history.EpochOf(key, epoch);
    return true;
  }
  return false;
}

UnwoundChains::UnwoundChains(std::unique_ptr<State> state) : state_(std::move(state)) {}
UnwoundChains::UnwoundChains(UnwoundChains&&) noexcept = default;
UnwoundChains& UnwoundChains::operator=(UnwoundChains&&) noexcept = default;
UnwoundChains::~UnwoundChains() = default;

Result<UnwoundChains> UnwoundChains::Open(Input& input, const CombineOptions& options) {
  if (input.is_stream()) TRY(input.All());
  Result<perfdata::Reader> reader = perfdata::Reader::Open(input);
  if (!reader) return Fail(InContext(input.name(), std::move(reader).error()));
  return UnwoundChains(std::make_unique<State>(*std::move(reader), input, options));
}

rewrite::NewChain UnwoundChains::Next() {
  if (!state_->Step() || state_->found.event == nullptr) return std::nullopt;
  const perfdata::SampleFormat& format = state_->found.event->format;
  if (!offline_unwind::HasStackCopies(format)) return std::nullopt;
  const perfdata::RecordView& record = state_->records.record();
  const auto sample = perfdata::DecodeSample(record, format);
  if (!sample) return std::nullopt;
  const ThreadState thread =
      state_->first_pass.history.StateOf(sample->pid, sample->tid, state_->epoch);
  const auto chain = state_->unwinder.Unwind(
      *sample, format, record.cpumode(),
      {.pid = sample->pid, .epoch = state_->epoch, .fingerprint = thread.spaces.user});
  if (!chain) return std::nullopt;
  return chain->words;
}

offline_unwind::UnwindReport UnwoundChains::Report() const {
  offline_unwind::UnwindReport report = state_->unwinder.report();
  report.missing = state_->tables.Missing();
  return report;
}

}  // namespace perftape::convert
