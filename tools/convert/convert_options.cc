// SPDX-License-Identifier: Apache-2.0
// The table of perftape-convert's options.
#include "convert/anonymize/pseudonyms.h"
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/common/profiles/format_options.h"
#include "tools/common/profiles/libraries.h"
#include "tools/common/profiles/time_view_options.h"
#include "tools/convert/command_line.h"

namespace perftape::convert_tool {
namespace {

using cli::Completion;
using convert::FoldedOptions;
using convert::ImportOptions;
using convert::PerfDataOptions;
using convert::PprofOptions;
using convert::WriteOptions;
using rewrite::NormalizeOptions;

constexpr cli::Option kInputRows[] = {
    cli::FromRow("read the inputs as this format, without detection: {choices}",
                 cli::StoreOffered<&cli::ParseInputFormat, &cli::InputFormats, &Plan::from>),
    {.name = "files-from0",
     .argument = "FILE",
     .help = "also convert the files named in FILE; each name ends with a NUL, as find -print0 "
             "writes them; - is stdin",
     .completion = Completion::kFile,
     .into = cli::Store<&Plan::lists>},
    {.name = "shard",
     .argument = "I/N",
     .help = "convert only the I-th of N parts of the inputs, counted from 1; auto or auto/N takes "
             "I from the environment of Slurm, Kubernetes or GNU parallel",
     .is_rare = true,
     .into = cli::Store<&Plan::shard>},
    cli::InputRow("convert this file, like an operand; - is stdin"),
};

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow(
        "write the output to FILE; - is stdout, the default if --to is given; for folded stacks, "
        "svg and perf-script, %e in the name writes one file for each event",
        cli::StoreAs<&cli::ParseOutput, &Plan::output>),
    {.name = "to",
     .argument = "FORMAT",
     .help = "write this format; the default depends on the ending of the output's name: {choices}",
     .into = cli::StoreOffered<&cli::ParseOutputFormat, &cli::OutputFormats, &Plan::to>},
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &Plan::write, &WriteOptions::if_exists>),
};

constexpr cli::Option kEventRows[] = {
    cli::EventRow("keep only samples of these events; folded stacks and an svg contain one of "
                  "them, a perf-script contains all"),
};

constexpr cli::Choice<convert::FoldedValue> kFoldedValues[] = {
    {"samples", convert::FoldedValue::kSamples,
     "the number of samples; default for folded lines and flame graphs if all samples of the event "
     "stand for the same amount"},
    {"period", convert::FoldedValue::kPeriod,
     "the time or count that the samples stand for; default if the amounts differ, as for waits "
     "and frequencies, and for all other formats"},
};

// The formats with stacks of names and one number for each of an event.
constexpr cli::Words kStackFormats =
    cli::kWords<convert::kFoldedFormat, convert::kHtmlFormat, convert::kSvgFormat,
                convert::kSpeedscopeFormat, convert::kCallgrindFormat>;

// The formats with one number for each stack of an event.
constexpr cli::Words kNumberFormats =
    cli::kWords<convert::kFoldedFormat, convert::kHtmlFormat, convert::kSvgFormat,
                convert::kSpeedscopeFormat, convert::kCallgrindFormat, convert::kFirefoxFormat>;

constexpr cli::Choice<folded::Root> kRoots[] = {
    {"comm", folded::Root::kComm},
    {"comm/pid", folded::Root::kCommPid},
    {"comm/pid/tid", folded::Root::kCommPidTid},
    {"none", folded::Root::kNone},
};

constexpr cli::Choice<TimeOnPage> kTimesOnPage[] = {
    {"auto", TimeOnPage::kShort, "recordings of up to 4,000,000 samples; default"},
    {"always", TimeOnPage::kAlways, "needs about 100 bytes of memory for each sample"},
    {"never", TimeOnPage::kNever},
};

constexpr cli::Option kDiffRows[] = {
    {.name = "diff",
     .argument = "OLD",
     .help = "compare the inputs with OLD: a differential flame graph, or folded lines with two "
             "counts; can be given several times, and all OLD are added up",
     .completion = Completion::kFile,
     .conflicts = "differential",
     .into = cli::Store<&Plan::base>},
    {.name = "differential",
     .help = "read and write two counts in folded lines, before and after, as difffolded.pl does; "
             "a flame graph shows the difference",
     .is_rare = true,
     .into = cli::Set<&Plan::differential>},
};

constexpr cli::Option kStackRows[] = {
    {.name = "values",
     .argument = "KIND",
     .help = "select the numbers of stacks: {choices}",
     .applies_to = kNumberFormats,
     .into = cli::StoreChoice<kFoldedValues, &Plan::values>},
    {.name = "root",
     .argument = "KIND",
     .help = "begin stacks with the thread, if known: {choices}; default comm",
     .applies_to = kStackFormats,
     .into = cli::StoreChoice<kRoots, &Plan::write, &WriteOptions::folded, &FoldedOptions::root>},
    {.name = "time-view",
     .argument = "WHEN",
     .help = "choose when a page also shows the recording over time (lanes of threads, a heat map, "
             "the critical path): {choices}",
     .applies_to = convert::kHtmlFormat,
     .is_rare = true,
     .into = cli::StoreChoice<kTimesOnPage, &Plan::time_on_page>},
    {.name = "max-stack",
     .argument = "N",
     .help = "unwind at most N frames of a copied stack (perf record --call-graph dwarf); default "
             "127, as in perf",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 1, 100000>, &Plan::import,
                          &ImportOptions::max_stack>},
    {.name = "input-root",
     .argument = "KIND",
     .help = "read the first frame of folded lines as {choices}; default none: a function",
     .is_rare = true,
     .into = cli::StoreChoice<kRoots, &Plan::import, &ImportOptions::root>},
    {.name = "mark-kernel",
     .help = "append _[k] to the names of kernel frames in folded lines",
     .applies_to = convert::kFoldedFormat,
     .is_rare = true,
     .into = cli::Set<&Plan::write, &WriteOptions::folded, &FoldedOptions::mark_kernel>},
    {.name = "offsets",
     .help = "append to each frame in folded lines the offset in its symbol: main+0x1f",
     .applies_to = convert::kFoldedFormat,
     .is_rare = true,
     .into = cli::Set<&Plan::write, &WriteOptions::folded, &FoldedOptions::offsets>},
    {.name = "lenient",
     .help = "skip and count folded lines without a count",
     .is_rare = true,
     .into = cli::Set<&Plan::import, &ImportOptions::lenient>},
};

constexpr std::pair<std::string_view, SampleLabel> kLabelWords[] = {
    {"cpu", SampleLabel::kCpu},   {"cgroup", SampleLabel::kCgroup},
    {"pod", SampleLabel::kPod},   {"service", SampleLabel::kService},
    {"time", SampleLabel::kTime},
};

std::vector<cli::Offer> Labels() {
  std::vector<cli::Offer> offers;
  for (const auto& [word, label] : kLabelWords) offers.push_back({.word = std::string(word)});
  offers.push_back({.word = "field:NAME"});
  return offers;
}

// Parses "cpu,field:reason".
Result<std::vector<LabelRequest>> ParseLabels(std::string_view option, std::string_view text) {
  constexpr std::string_view kField = "field:";
  std::vector<LabelRequest> requests;
  for (const std::string_view word : cli::SplitAtCommas(text)) {
    const auto* const known =
        std::ranges::find(kLabelWords, word, &std::pair<std::string_view, SampleLabel>::first);
    if (known != std::end(kLabelWords)) {
      requests.push_back({.label = known->second});
    } else if (word.starts_with(kField) && word.size() > kField.size()) {
      requests.push_back(
          {.label = SampleLabel::kField, .field = std::string(word.substr(kField.size()))});
    } else {
      return cli::UnknownValue(option, word, Labels());
    }
  }
  return requests;
}

constexpr cli::Option kPprofRows[] = {
    {.name = "labels",
     .argument = "LIST",
     .help = "add labels to the samples of a pprof or otlp: {choices} (a field of tracepoints), or "
             "several separated by commas",
     .conflicts = "no-labels",
     .applies_to = cli::kWords<convert::kPprofFormat, convert::kOtlpFormat>,
     .into = cli::StoreOffered<&ParseLabels, &Labels, &Plan::labels>},
    {.name = "go-pgo",
     .help = "name the sample types of a pprof samples and cpu, as go build -pgo requires",
     .applies_to = convert::kPprofFormat,
     .into = cli::SetTo<convert::PprofTypes::kGo, &Plan::write, &WriteOptions::pprof,
                        &PprofOptions::types>},
    {.name = "no-labels",
     .help = "write no labels of threads into a pprof or otlp: pid, tid, comm, woken and woken_tid",
     .applies_to = cli::kWords<convert::kPprofFormat, convert::kOtlpFormat>,
     .is_rare = true,
     .into = cli::SetTo<false, &Plan::write, &WriteOptions::pprof, &PprofOptions::thread_labels>},
    {.name = "no-gzip",
     .help = "write a pprof without compression",
     .conflicts = "compress-level",
     .applies_to = convert::kPprofFormat,
     .is_rare = true,
     .into = cli::SetTo<convert::PprofCompression::kNone, &Plan::write, &WriteOptions::pprof,
                        &PprofOptions::compression>},
    {.name = "compress-level",
     .argument = "LEVEL",
     .help = "set the gzip level of a pprof: 1 (fastest, default) to 12 (smallest)",
     .applies_to = convert::kPprofFormat,
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseNumberIn<int, 1, 12>, &Plan::write, &WriteOptions::pprof,
                          &PprofOptions::level>},
};

std::vector<cli::Offer> PerfVersions() {
  std::vector<cli::Offer> offers;
  for (const rewrite::ReaderLimits& reader : rewrite::AllReaderLimits()) {
    offers.push_back({.word = std::string(reader.version)});
  }
  return offers;
}

Result<const rewrite::ReaderLimits*> ParsePerfVersion(std::string_view option,
                                                      std::string_view text) {
  const rewrite::ReaderLimits* reader = rewrite::FindReaderLimits(text);
  if (reader == nullptr) return cli::UnknownValue(option, text, PerfVersions());
  return reader;
}

// CompressionRow with the format that it applies to.
constexpr cli::Option PerfDataCompressionRow() {
  cli::Option row = cli::CompressionRow(
      "compress the records of a perf.data with zstd; LEVEL is 1 (fastest, default) to 22 "
      "(smallest); without -z, records are uncompressed",
      cli::StoreAs<&cli::ParseCompressionLevel, &Plan::normalize,
                   &NormalizeOptions::compression_level>);
  row.applies_to = convert::kPerfDataFormat;
  return row;
}

constexpr cli::Option kPerfDataRows[] = {
    PerfDataCompressionRow(),
    {.name = "compat",
     .argument = "VERSION",
     .help =
         "leave out of a perf.data everything that this version of perf does not know: {choices}",
     .applies_to = convert::kPerfDataFormat,
     .into = cli::StoreOffered<&ParsePerfVersion, &PerfVersions, &Plan::normalize,
                               &NormalizeOptions::reader>},
    {.name = "unwind",
     .help = "replace the copies of registers and stacks in a perf.data (perf record --call-graph "
             "dwarf) by callchains",
     .applies_to = convert::kPerfDataFormat,
     .into = cli::Set<&Plan::unwind>},
    {.name = "pipe",
     .help = "write a perf.data as a stream, as perf record -o - does; stdout always gets a stream",
     .applies_to = convert::kPerfDataFormat,
     .is_rare = true,
     .into =
         cli::SetTo<perfdata::Container::kPipe, &Plan::normalize, &NormalizeOptions::container>},
    {.name = "symbol-dir",
     .argument = "DIR",
     .help = "write the user frames of other formats into binaries below DIR, for perf "
             "--buildid-dir DIR and hotspot",
     .completion = Completion::kDirectory,
     .applies_to = convert::kPerfDataFormat,
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDirectory, &Plan::write, &WriteOptions::perfdata,
                          &PerfDataOptions::symbol_dir>},
};

constexpr cli::Option kAnonymizeRows[] = {
    {.name = "anonymize",
     .argument = "KEYFILE",
     .help = "replace names, paths, labels and the host by keyed hashes; KEYFILE has 16 random "
             "bytes or more, and the same KEYFILE gives the same hashes; the man page lists what "
             "stays readable",
     .completion = Completion::kFile,
     .conflicts = "unwind compat",
     .into = cli::Store<&Plan::anonymize>},
    {.name = "keep-kernel-names",
     .help = "with --anonymize, leave the functions of the kernel readable; in some formats, those "
             "of its modules, too",
     .is_rare = true,
     .into = cli::SetTo<anonymize::KernelNames::kKept, &Plan::kernel_names>},
};

constexpr cli::Option kNoSymbolsRows[] = {
    {.name = "no-symbols",
     .help = "do not look up names: frames are [file] or [unknown]",
     .conflicts = cli::NamesOf<cli::kSymbolRows>::kWords,
     .into = cli::SetTo<Symbols::kNone, &Plan::symbols>},
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow(),
    cli::VerboseRow("also print each input, and the names found in each binary"),
    cli::JsonRow("print what was read, kept and dropped as one JSON object on stdout",
                 cli::SetTo<ReportAs::kJson, &Plan::report_as>),
    cli::ThreadsRow("use at most N threads (default: number of CPUs); the output does not depend "
                    "on N",
                    cli::StoreAs<cli::ParseThreads, &Plan::threads>),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

constexpr auto kOptions = cli::Table(
    cli::InGroup(cli::Group::kOutput, kOutputRows),
    cli::InGroup(cli::Group::kOutput, kAnonymizeRows), cli::InGroup(cli::Group::kInput, kInputRows),
    cli::InGroup(cli::Group::kSelection, kEventRows),
    cli::InGroup(cli::Group::kSelection, cli::kFilterRows),
    cli::InGroup(cli::Group::kTime, cli::kTimeViewRows),
    cli::InGroup(cli::Group::kComparison, kDiffRows),
    cli::InGroup(cli::Group::kSymbols, kNoSymbolsRows),
    cli::InGroup(cli::Group::kSymbols, cli::kSymbolRows),
    cli::InGroup(cli::Group::kFormats, kStackRows), cli::InGroup(cli::Group::kFormats, kPprofRows),
    cli::InGroup(cli::Group::kFormats, kPerfDataRows),
    cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-convert perf.data -o profile.html", "a flame graph that any browser opens"},
    {"perftape-convert perf.data -o profile.pb.gz", "for go tool pprof"},
    {"perftape-convert perf.data -o profile.folded", "for flamegraph.pl"},
    {"perftape-convert --diff old.data new.data -o difference.html",
     "a flame graph of the changes"},
    {"perftape-convert profile.folded -o perf.data && perf report",
     "a profile of another tool, for perf"},
    {"perftape-convert host1.data host2.data old.pb.gz -o all.pb.gz",
     "the sum of several profiles"},
    {"perftape-convert perf.data --comm 'nginx*' --time 10%,20% -o peak.folded",
     "a part of a recording"},
    {"perftape-record -o - -a --duration 5 | perftape-convert - --to folded", "while recording"},
    {"perftape-convert perf.data --anonymize my.key -o to-share.pb.gz", "without names"},
    {"perftape-convert new.data -o old.data --compat 6.1 && perf report -i old.data",
     "for an older perf"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-convert",
    .purpose =
        "Convert perf.data, folded stacks, pprof and OTLP into each other and into flame graphs. "
        "Several inputs are added up. Names can come from saved symbols.",
    .operands = "[FILE...]",
    .options = kOptions,
    .examples = kExamples,
    .epilogue =
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but an input was damaged.\n",
    .libraries = &cli::LibrariesOfProfiles,
};

}  // namespace

const cli::Command& ConvertCommand() {
  return kCommand;
}

}  // namespace perftape::convert_tool
