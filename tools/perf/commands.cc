// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "formats/base/similar.h"
#include "formats/base/text.h"
#include "tools/common/cli/escape.h"

namespace perftape::perf_tool {
namespace {

constexpr PerfCommand kCommands[] = {
    {"annotate", RunBy::kNothing,
     "'perftape report perf.data --lines main' shows source lines with their shares; "
     "instructions are not shown"},
    {"archive", RunBy::kVerb},
    {"bench", RunBy::kNothing, "perftape has no benchmarks of the kernel"},
    {"buildid-cache", RunBy::kNothing,
     "'perftape symbolize perf.data --to-cache ~/.debug' fills the cache, 'perftape bundle clean' "
     "removes what was added"},
    {"buildid-list", RunBy::kVerb},
    {"c2c", RunBy::kNothing, "perftape does not record memory accesses with their caches"},
    {"check", RunBy::kNothing, "'perftape doctor' checks what this machine can record"},
    {"config", RunBy::kNothing, "perftape has no configuration file, and reads none of perf"},
    {"daemon", RunBy::kNothing,
     "'perftape serve' records all the time; packages have a service for it"},
    {"data", RunBy::kNothing,
     "'perftape inspect --samples --json perf.data' prints the samples as JSON"},
    {"diff", RunBy::kVerb},
    {"evlist", RunBy::kVerb},
    {"ftrace", RunBy::kNothing,
     "'perftape record -e kprobe:FUNCTION -a' records the callers of a kernel function; its "
     "tracers "
     "are not used"},
    {"help", RunBy::kVerb},
    {"inject", RunBy::kVerb},
    {"iostat", RunBy::kNothing,
     "'perftape record -e latency:block -a', then 'perftape report --diagnose', shows the "
     "latencies "
     "of disks"},
    {"kallsyms", RunBy::kNothing, "search the symbol in /proc/kallsyms with grep"},
    {"kmem", RunBy::kNothing,
     "'perftape record -e kmem:kmalloc -a' records the events; statistics are not computed"},
    {"kvm", RunBy::kNothing, "perftape records the host; guests are not resolved"},
    {"kwork", RunBy::kNothing,
     "'perftape record -e irq:softirq_entry -a' records the events; statistics are not computed"},
    {"list", RunBy::kVerb},
    {"lock", RunBy::kNothing,
     "'perftape record -e lock -a', then 'perftape report', shows where threads wait for locks of "
     "the kernel"},
    {"mem", RunBy::kNothing, "perftape does not record the addresses of memory accesses"},
    {"probe", RunBy::kNothing, "no definition is needed: 'perftape record -e uprobe:libc:malloc'"},
    {"record", RunBy::kTool},
    {"report", RunBy::kTool},
    {"sched", RunBy::kNothing,
     "'perftape record --why -a', then 'perftape report --wall', shows who ran and waited; "
     "'-e latency:runq' and '--diagnose' show the latencies"},
    {"script", PERFTAPE_HAS_SCRIPT ? RunBy::kTool : RunBy::kNothing,
     "'perftape convert perf.data --to perf-script' writes the text of perf script"},
    {"stat", RunBy::kNothing,
     "perftape samples events and does not print totals of counters; perf stat does"},
    {"test", RunBy::kNothing, "'perftape doctor' checks what this machine can record"},
    {"timechart", RunBy::kNothing,
     "'perftape record --why -a', then 'perftape convert perf.data -o time.html': the view Time"},
    {"top", RunBy::kNothing,
     "'perftape record -a --duration 5', then 'perftape report'; all the time: 'perftape serve "
     "--listen 127.0.0.1:4040'"},
    {"trace", RunBy::kNothing,
     "'perftape record -e latency:syscall -p PID', then 'perftape report --diagnose', shows "
     "latencies and errors of system calls; their arguments are not recorded"},
    {"version", RunBy::kVerb},
};

// Commands of other profilers.
struct ForeignVerb {
  std::string_view name;
  std::string_view instead;
};
constexpr ForeignVerb kForeignVerbs[] = {
    {"load", "as samply's, 'perftape convert perf.data -o profile.html' makes a page"},
    {"import",
     "as samply's, 'perftape convert perf.data -o profile.firefox.json.gz' makes a "
     "profile for the Firefox Profiler"},
    {"setup", "samply's is not needed: 'perftape doctor' prints what is missing"},
    {"flamegraph", "'perftape convert perf.data -o flame.svg' or '-o flame.html' draws one"},
    {"collapse", "'perftape convert perf.data -o out.folded' folds stacks"},
    {"web", "as pprof's, 'perftape convert perf.data -o profile.html' makes a page"},
    {"peek", "as pprof's, 'perftape report perf.data --focus REGEX --tree=callers' shows callers"},
    {"tree", "'perftape report perf.data --tree' shows the calls"},
    {"weblist", "'perftape report perf.data --lines REGEX' shows source lines"},
    {"merge", "'perftape convert a.data b.data -o all.pb.gz' merges profiles"},
    {"profile", "'perftape record -a --duration 5' records the whole system"},
    {"attach", "'perftape record -p PID' records a running process"},
    {"offcpu", "'perftape record -e offcpu -a' records where threads wait"},
    {"monitor", "'perftape serve' records all the time"},
    {"start", "'perftape record' begins a recording, and Ctrl-C ends it"},
};

}  // namespace

std::span<const PerfCommand> PerfCommands() {
  return kCommands;
}

const PerfCommand* FindPerfCommand(std::string_view name) {
  const auto* const found = std::ranges::find(kCommands, name, &PerfCommand::name);
  return found == std::end(kCommands) ? nullptr : found;
}

std::string CommandsMarkdown() {
  std::string text;
  for (const PerfCommand& command : kCommands) {
    std::string what = "Works as in perf.";
    if (command.run_by == RunBy::kTool) {
      what = fmt::format("Runs **perftape-{}**(1).", command.name);
    } else if (command.run_by == RunBy::kNothing) {
      what = fmt::format("Is not there: {}.", command.instead);
    }
    // In the sentences, only commands are quoted.
    std::ranges::replace(what, '\'', '`');
    text += fmt::format("{}**{}**\n:   {}\n", text.empty() ? "" : "\n", command.name, what);
  }
  return text;
}

std::string_view InsteadOfForeignVerb(std::string_view word) {
  const auto* const found = std::ranges::find(kForeignVerbs, word, &ForeignVerb::name);
  return found == std::end(kForeignVerbs) ? "" : found->instead;
}

std::string UnknownCommandText(std::string_view word) {
  std::string text = fmt::format("unknown command '{}'", cli::EscapeForTerminal(word));
  if (const std::string_view instead = InsteadOfForeignVerb(word); !instead.empty()) {
    return fmt::format("{}: {}", text, instead);
  }
  std::vector<std::string_view> names;
  for (const PerfCommand& command : kCommands) names.push_back(command.name);
  const std::vector<std::string_view> similar = MostSimilar(word, names);
  return similar.empty() ? text
                         : fmt::format("{}; did you mean {}?", text, Joined(similar, " or "));
}

}  // namespace perftape::perf_tool
