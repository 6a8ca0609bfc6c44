// SPDX-License-Identifier: Apache-2.0
#include "tools/perftape/command_line.h"

#include "tools/common/cli/man_text.h"
#include "tools/perftape/man_pages.h"
#include "tools/perftape/verbs.h"

namespace perftape::front_tool {
namespace {

constexpr cli::Topic kTopics[] = {
    {"examples", "commands of all tools, by purpose", "perftape.7", "EXAMPLES"},
    {"from-perf", "what replaces the commands and options of perf", "perftape-from-perf.7",
     "DESCRIPTION"},
    {"from-samply", "what replaces samply and hotspot", "perftape-from-samply.7", "DESCRIPTION"},
    {"from-pprof", "what replaces go tool pprof and Pyroscope", "perftape-from-pprof.7",
     "DESCRIPTION"},
    {"profilers", "when to use perf, samply or pprof", "perftape.7", "OTHER PROFILERS"},
    {"events", "what can be recorded, and how to select it", "perftape-record.1", "EVENTS"},
    {"latency", "count calls with their latencies, and find the slow ones", "perftape.7",
     "LATENCY AND WAITS"},
    {"waits", "why a program waited: locks, disks, other threads, CPUs", "perftape-report.1",
     "WALL CLOCK AND CRITICAL PATH"},
    {"symbols", "why functions have no names, and how to fix it", "perftape-symbols.7",
     "DESCRIPTION"},
    {"jit", "names of code that a runtime makes: Node.js, Java, PHP and others", "perftape.7",
     "CODE MADE AT RUN TIME"},
    {"diagnose", "what is wrong with a program, by rules", "perftape-report.1", "DIAGNOSIS"},
    {"diff", "how two recordings are compared", "perftape-report.1", "COMPARISONS"},
#if PERFTAPE_HAS_SERVE
    {"service", "record all the time, and query profiles over HTTP", "perftape.7", "SERVICE"},
    {"requests", "what the service answers", "perftape-serve.1", "REQUESTS"},
#endif
    {"privileges", "who can record, and what", "perftape-record.1", "PRIVILEGES"},
    {"bundles", "how a recording carries its symbols", "perftape-record.1", "SYMBOLS"},
    {"machines", "how to read a recording on another machine", "perftape.7", "ANOTHER MACHINE"},
    {"flight", "keep the last seconds, and write them when something happens", "perftape-record.1",
     "FLIGHT RECORDER"},
    {"losses", "why samples are lost, and how to avoid it", "perftape-record.1", "LOST SAMPLES"},
    {"regressions", "how to fail a build that became slower", "perftape.7", "REGRESSIONS"},
    {"fleets", "how to merge many recordings", "perftape.7", "FLEETS"},
    {"output", "how all tools write files", "perftape.1", "OUTPUT"},
    {"limits", "what does not work", "perftape.7", "LIMITS"},
    {"units", "times, sizes and percentages in options", "perftape.7", "UNITS"},
};

constexpr cli::Example kExamples[] = {
    {"perftape record -- make -j8", "record a command into perf.data"},
    {"perftape report", "show which functions took the time"},
    {"perftape convert perf.data -o profile.html", "draw a flame graph"},
};

constexpr cli::Command kCommand = {
    .name = "perftape",
    .purpose = "Record where programs spend their time, show it, and convert it for other viewers.",
    .operands = "VERB [ARGUMENT...]",
    .options = {},
    .order = cli::Order::kOptionsFirst,
    .examples = kExamples,
    .epilogue = "'perftape doctor' prints what is missing if nothing can be recorded.\n",
    .verbs = kVerbs,
    .topics = kTopics,
};

}  // namespace

const cli::Command& FrontCommand() {
  return kCommand;
}

std::string TopicText(const cli::Topic& topic) {
  const std::string page = ManPageSource(topic.page);
  return cli::PlainText(cli::FindSection(page, topic.section));
}

}  // namespace perftape::front_tool
