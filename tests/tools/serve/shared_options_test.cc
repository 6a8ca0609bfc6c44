// SPDX-License-Identifier: Apache-2.0
// The options that perftape-record and perftape-serve have: the command line of one and the file of
// --config of the other accept the same words.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "record/scope/scope.h"
#include "tests/support/matchers.h"
#include "tools/record/command_line.h"
#include "tools/serve/command_line.h"
#include "tools/serve/config_file.h"

namespace perftape::serve {
namespace {

// The values of each shared option; those of a switch are empty.
const std::map<std::string, std::vector<std::string>, std::less<>>& ValuesOfOptions() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> kValues = {
      {"event", {"cpu-clock,offcpu", "cpu-clock:u", "cpu-clock/freq=7/", "sched:*", "nothing,,"}},
      {"off-cpu-threshold", {"500us", "2", "0", "-1", "soon"}},
      {"allow-missing-events", {""}},
      {"cpu", {"0-1,3", "x"}},
      {"uid", {"0", "root", "no such user"}},
      {"comm", {"nginx*,java", ",", "a b"}},
      {"cgroup", {"/system.slice", "17,18"}},
      {"container", {"0123abc", ",x"}},
      {"pod", {"shop/*", "web-1,web-2"}},
      {"freq", {"7", "max", "0", "many"}},
      {"call-graph", {"fp", "eh", "none", "lbr", "fp,7"}},
      {"max-cpu", {"5", "2.5%", "0", "all"}},
      {"quiet", {""}},
      {"verbose", {""}},
      {"no-sandbox", {""}},
  };
  return kValues;
}

// What both structs have, and the error if there is one.
struct Outcome {
  recording::RecordingPlan plan;
  std::string error;

  // A text for messages; equal for equal outcomes.
  std::string Text() const {
    if (!error.empty()) return error;
    const record::InputOptions& input = plan.record.input;
    std::string text;
    for (const record::EventSpec& event : input.events) text += event.text + ' ';
    for (const auto* const names :
         {&input.scope.comms, &input.scope.cgroups, &input.scope.containers, &input.scope.pods}) {
      for (const std::string& name : *names) text += name + ' ';
      text += "| ";
    }
    for (const auto cpu : input.cpus) text += fmt::format("{},", cpu);
    text += fmt::format(" {} {} {} {} {} {}", input.user.value_or(0), plan.quiet, plan.verbose,
                        plan.no_sandbox, plan.record.max_cpu.value_or(-1),
                        static_cast<int>(input.missing_events));
    if (plan.rate) text += fmt::format(" {} Hz", std::get<record::Frequency>(*plan.rate).hz);
    if (plan.off_cpu_threshold) text += fmt::format(" {} ns", plan.off_cpu_threshold->count());
    if (plan.call_graph) text += fmt::format(" {}", static_cast<int>(plan.call_graph->callchains));
    return text;
  }
};

Outcome OfCommandLine(const std::string& name, const std::string& value) {
  const std::vector<std::string> words = {"--" + name + (value.empty() ? "" : "=" + value)};
  const auto plan = cli::Parse<record_tool::Plan>(record_tool::RecordCommand(), words);
  return plan ? Outcome{*plan, ""} : Outcome{{}, plan.error().message};
}

Outcome OfConfigFile(const std::string& name, const std::string& value) {
  ServePlan plan;
  const std::string line = name + (value.empty() ? "" : " = " + value);
  const Status applied = ApplyConfig(line, "conf", plan);
  if (applied) return {plan, ""};
  std::string message = applied.error().message;
  const std::string where = "conf:1: ";
  return {{}, message.starts_with(where) ? message.substr(where.size()) : message};
}

TEST(SharedOptions, AcceptAndRefuseTheSameWordsInAFileAsOnTheCommandLine) {
  for (const auto& [name, values] : ValuesOfOptions()) {
    for (const std::string& value : values) {
      EXPECT_EQ(OfConfigFile(name, value).Text(), OfCommandLine(name, value).Text())
          << name << " = " << value;
    }
  }
}

TEST(SharedOptions, AreOneRowInBothTables) {
  std::set<std::string> shared;
  for (const cli::Option& of_serve : ServeCommand().options) {
    const auto& others = record_tool::RecordCommand().options;
    const auto of_record = std::ranges::find(others, of_serve.key(), &cli::Option::key);
    if (of_record == others.end()) continue;
    SCOPED_TRACE(std::string(of_serve.key()));
    shared.emplace(of_serve.key());
    EXPECT_EQ(of_serve.letter, of_record->letter);
    EXPECT_EQ(of_serve.argument, of_record->argument);
    EXPECT_EQ(of_serve.completion, of_record->completion);
    EXPECT_EQ(of_serve.is_rare, of_record->is_rare);
    EXPECT_EQ(of_serve.group, of_record->group);
    EXPECT_EQ(of_serve.into.store, of_record->into.store);
    // The default rate and what is printed differ.
    if (of_serve.name != "freq" && of_serve.name != "verbose") {
      EXPECT_EQ(of_serve.help, of_record->help);
    }
  }
  std::set<std::string> tried;
  for (const auto& [name, values] : ValuesOfOptions()) tried.insert(name);
  EXPECT_EQ(shared, tried);
}

TEST(SharedOptions, NameTheRateThatIsTheDefault) {
  const auto default_of = [](const cli::Command& command) {
    const std::string_view help = cli::FindOption(command, "freq")->help;
    return std::string(help.substr(help.rfind('(')));
  };
  EXPECT_EQ(
      default_of(record_tool::RecordCommand()),
      fmt::format("(default {})",
                  std::get<record::Frequency>(record_tool::PlanOf({}).value().input.rate).hz));
  ServePlan plan;
  plan.addresses.push_back(ParseListenAddress("-l", "/x").value());
  EXPECT_EQ(default_of(ServeCommand()),
            fmt::format("(default {})",
                        std::get<record::Frequency>(PlanOf(plan).value().record.input.rate).hz));
}

}  // namespace
}  // namespace perftape::serve
