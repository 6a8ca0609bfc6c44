// SPDX-License-Identifier: Apache-2.0
// The table of perftape-convert's options.
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/common/profiles/format_options.h"
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

constexpr cli::Option kFileRows[] = {
    cli::InputRow("convert this file, like an operand; - is stdin"),
    {.name = "files-from0",
     .argument = "FILE",
     .help = "also convert the files named in FILE, each name ended by NUL as find -print0 writes "
             "them; - is stdin",
     .completion = Completion::kFile,
     .into = cli::Store<&Plan::lists>},
    {.name = "shard",
     .argument = "I/N",
     .help = "convert only the I-th of N parts of the inputs, counted from 1; auto or auto/N reads "
             "I from the environment of Slurm, Kubernetes or GNU parallel",
     .into = cli::Store<&Plan::shard>},
    cli::OutputRow("write the output to FILE; - is stdout, the default if --to is given; %e in the "
                   "name of folded stacks, an svg or a perf-script writes a file for each event",
                   cli::StoreAs<&cli::ParseOutput, &Plan::output>),
    cli::FromRow("read the inputs as this format, without detection: {choices}",
                 cli::StoreOffered<&cli::ParseInputFormat, &cli::InputFormats, &Plan::from>),
    {.name = "to",
     .argument = "FORMAT",
     .help = "write this format; default by the ending: {choices}",
     .into = cli::StoreOffered<&cli::ParseOutputFormat, &cli::OutputFormats, &Plan::to>},
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &Plan::write, &WriteOptions::if_exists>),
};

constexpr cli::Option kEventRows[] = {
    cli::EventRow(
        "keep only samples of these events; folded stacks and an svg contain the first one, a "
        "perf-script all that are named here"),
};

constexpr cli::Choice<convert::FoldedValue> kFoldedValues[] = {
    {"samples", convert::FoldedValue::kSamples,
     "how many there are; default of folded lines and flame graphs if all samples of the event "
     "stand for the same amount"},
    {"period", convert::FoldedValue::kPeriod,
     "what they stand for, as time or counts; default if the amounts are unequal, as of waits and "
     "frequencies, and of all other formats"},
};

// The formats with stacks of names and one number for each of an event.
constexpr cli::Words kStackFormats = {convert::kFoldedFormat, convert::kHtmlFormat,
                                      convert::kSvgFormat, convert::kSpeedscopeFormat,
                                      convert::kCallgrindFormat};

// The formats with one number for each stack of an event.
constexpr cli::Words kNumberFormats = {convert::kFoldedFormat,    convert::kHtmlFormat,
                                       convert::kSvgFormat,       convert::kSpeedscopeFormat,
                                       convert::kCallgrindFormat, convert::kFirefoxFormat};

constexpr cli::Choice<folded::Root> kRoots[] = {
    {"comm", folded::Root::kComm},
    {"comm/pid", folded::Root::kCommPid},
    {"comm/pid/tid", folded::Root::kCommPidTid},
    {"none", folded::Root::kNone},
};

constexpr cli::Option kUnwindRows[] = {
    {.name = "max-stack",
     .argument = "N",
     .help = "unwind at most N frames of a copied stack (perf record --call-graph dwarf); default "
             "127, as in perf",
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 1, 100000>, &Plan::import,
                          &ImportOptions::max_stack>},
};

constexpr cli::Option kFoldedRows[] = {
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
    {.name = "input-root",
     .argument = "KIND",
     .help = "read the first frame of folded lines as {choices}; default none: a function",
     .into = cli::StoreChoice<kRoots, &Plan::import, &ImportOptions::root>},
    {.name = "mark-kernel",
     .help = "append _[k] to the names of kernel frames in folded lines",
     .applies_to = {convert::kFoldedFormat},
     .into = cli::Set<&Plan::write, &WriteOptions::folded, &FoldedOptions::mark_kernel>},
    {.name = "differential",
     .help = "read and write two counts in folded lines, before and after, as difffolded.pl does; "
             "a flame graph shows the difference",
     .into = cli::Set<&Plan::differential>},
    {.name = "diff",
     .argument = "OLD",
     .help = "compare the inputs with OLD: a differential flame graph, or folded lines with two "
             "counts; can be given several times, and all are added up",
     .completion = Completion::kFile,
     .conflicts = {"differential"},
     .into = cli::Store<&Plan::base>},
    {.name = "lenient",
     .help = "skip and count folded lines without a count",
     .into = cli::Set<&Plan::import, &ImportOptions::lenient>},
};

std::vector<cli::Offer> Labels() {
  return {{.word = "cpu"}, {.word = "cgroup"}, {.word = "field:NAME"}};
}

// Parses "cpu,field:reason".
Result<std::vector<LabelRequest>> ParseLabels(std::string_view option, std::string_view text) {
  constexpr std::string_view kField = "field:";
  std::vector<LabelRequest> requests;
  for (const std::string_view word : cli::SplitAtCommas(text)) {
    if (word == "cpu") {
      requests.push_back({.label = SampleLabel::kCpu});
    } else if (word == "cgroup") {
      requests.push_back({.label = SampleLabel::kCgroup});
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
     .help = "add labels to the samples of a pprof: {choices} (a field of tracepoints), or several "
             "with commas between them",
     .conflicts = {"no-labels"},
     .applies_to = {convert::kPprofFormat},
     .into = cli::StoreOffered<&ParseLabels, &Labels, &Plan::labels>},
    {.name = "no-labels",
     .help = "write no labels of threads into a pprof: pid, tid, comm, woken and woken_tid",
     .applies_to = {convert::kPprofFormat},
     .into = cli::SetTo<false, &Plan::write, &WriteOptions::pprof, &PprofOptions::thread_labels>},
    {.name = "go-pgo",
     .help = "name the sample types of a pprof samples and cpu, as go build -pgo wants them",
     .applies_to = {convert::kPprofFormat},
     .into = cli::SetTo<convert::PprofTypes::kGo, &Plan::write, &WriteOptions::pprof,
                        &PprofOptions::types>},
    {.name = "no-gzip",
     .help = "write a pprof without compression",
     .conflicts = {"compress-level"},
     .applies_to = {convert::kPprofFormat},
     .into = cli::SetTo<convert::PprofCompression::kNone, &Plan::write, &WriteOptions::pprof,
                        &PprofOptions::compression>},
    {.name = "compress-level",
     .argument = "LEVEL",
     .help = "set the gzip level of a pprof: 1 (fastest, default) to 12 (smallest)",
     .applies_to = {convert::kPprofFormat},
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
  row.applies_to = {convert::kPerfDataFormat};
  return row;
}

constexpr cli::Option kPerfDataRows[] = {
    PerfDataCompressionRow(),
    {.name = "pipe",
     .help = "write a perf.data as the stream of perf record -o -; stdout always gets a stream",
     .applies_to = {convert::kPerfDataFormat},
     .into =
         cli::SetTo<perfdata::Container::kPipe, &Plan::normalize, &NormalizeOptions::container>},
    {.name = "compat",
     .argument = "VERSION",
     .help = "leave out of a perf.data what this version of perf does not know: {choices}",
     .applies_to = {convert::kPerfDataFormat},
     .into = cli::StoreOffered<&ParsePerfVersion, &PerfVersions, &Plan::normalize,
                               &NormalizeOptions::reader>},
    {.name = "unwind",
     .help = "replace the copies of registers and stacks in a perf.data (perf record --call-graph "
             "dwarf) by callchains",
     .applies_to = {convert::kPerfDataFormat},
     .into = cli::Set<&Plan::unwind>},
    {.name = "symbol-dir",
     .argument = "DIR",
     .help = "write the user frames of other formats into binaries below DIR, for perf "
             "--buildid-dir DIR and hotspot",
     .completion = Completion::kFile,
     .applies_to = {convert::kPerfDataFormat},
     .into = cli::StoreAs<&cli::ParseDirectory, &Plan::write, &WriteOptions::perfdata,
                          &PerfDataOptions::symbol_dir>},
};

constexpr cli::Option kAnonymizeRows[] = {
    {.name = "anonymize",
     .argument = "KEYFILE",
     .help =
         "replace names, paths, labels and the host by keyed hashes; KEYFILE has 16 random bytes "
         "or more, and the same one gives the same words; the man page lists what stays",
     .completion = Completion::kFile,
     .conflicts = {"unwind", "compat"},
     .into = cli::Store<&Plan::anonymize>},
    {.name = "keep-kernel-names",
     .help = "with --anonymize, leave the functions of the kernel readable, which some formats do "
             "not tell from those of its modules",
     .into = cli::SetTo<anonymize::KernelNames::kKept, &Plan::kernel_names>},
};

constexpr cli::Option kNoSymbolsRows[] = {
    {.name = "no-symbols",
     .help = "look up no names: frames are [file] or [unknown]",
     .conflicts = cli::NamesOf(cli::kSymbolRows),
     .into = cli::SetTo<Symbols::kNone, &Plan::symbols>},
};

constexpr cli::Option kReportRows[] = {
    cli::ThreadsRow("use at most N threads (default: number of CPUs); the output does not depend "
                    "on N",
                    cli::StoreAs<cli::ParseThreads, &Plan::threads>),
    cli::JsonRow("print what was read, kept and dropped as one JSON object on stdout",
                 cli::SetTo<ReportAs::kJson, &Plan::report_as>),
    cli::NoSandboxRow(),
    cli::NoProgressRow(),
    cli::QuietRow(),
    cli::VerboseRow("also print each input, and the names found in each binary"),
};

constexpr auto kOptions =
    cli::Table(kFileRows, kEventRows, cli::kFilterRows, kUnwindRows, kFoldedRows, kPprofRows,
               kPerfDataRows, kAnonymizeRows, kNoSymbolsRows, cli::kSymbolRows, kReportRows);

constexpr cli::Command kCommand = {
    .name = "perftape-convert",
    .purpose =
        "Convert perf.data, folded stacks and pprof into each other and into flame graphs, several "
        "inputs into one, with names from saved symbols.",
    .operands = "[FILE...]",
    .options = kOptions,
    .epilogue =
        "Examples:\n"
        "  perftape-convert perf.data -o out.folded\n"
        "  perftape-convert perf.data -o out.pb.gz && go tool pprof -top out.pb.gz\n"
        "  perftape-convert perf.data -o flamegraph.html\n"
        "  perftape-convert --diff old.data new.data -o difference.html\n"
        "  perftape-convert out.folded -o perf.data && perf report\n"
        "  perftape-convert host1.data host2.data old.pb.gz -o all.pb.gz\n"
        "  perftape-convert perf.data --comm 'nginx*' --time 10%,20% -o peak.folded\n"
        "  perftape-record -o - -a --duration 5 | perftape-convert - --to folded\n"
        "  perftape-convert perf.data --anonymize my.key -o to-share.pb.gz\n"
        "  perftape-convert new.data -o old.data --compat 6.1 && perf report -i old.data\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but an input was damaged.\n"};

}  // namespace

const cli::Command& ConvertCommand() {
  return kCommand;
}

}  // namespace perftape::convert_tool
