// SPDX-License-Identifier: Apache-2.0
// The tables of options of all tools, each with an empty plan that its rows set.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tools/bundle/verbs.h"
#include "tools/convert/command_line.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/doctor/command_line.h"
#include "tools/inspect/command_line.h"
#include "tools/perf/command_line.h"
#include "tools/perftape/command_line.h"
#include "tools/record/command_line.h"
#include "tools/recover/command_line.h"
#include "tools/report/command_line.h"
#include "tools/script/command_line.h"
#include "tools/symbolize/command_line.h"
#include "tools/view/command_line.h"
#if PERFTAPE_HAS_SERVE
#include "tools/serve/command_line.h"
#endif

namespace perftape {

struct Tool {
  const cli::Command* command;
  // Null for perftape, and for verbs and tools with only verbs.
  std::function<std::unique_ptr<cli::BaseOptions>()> new_plan = nullptr;
};

template <class Plan>
std::unique_ptr<cli::BaseOptions> NewPlan() {
  return std::make_unique<Plan>();
}

inline std::vector<Tool> AllTools() {
  std::vector<Tool> tools = {
      {&bundle_tool::BundleCommand()},
      {&convert_tool::ConvertCommand(), &NewPlan<convert_tool::Plan>},
      {&convert_tool::PerfToProfileCommand(), &NewPlan<convert_tool::Plan>},
      {&doctor_tool::DoctorCommand(), &NewPlan<doctor_tool::Plan>},
      {&front_tool::FrontCommand()},
      {&inspect::InspectCommand(), &NewPlan<inspect::Plan>},
      {&perf_tool::PerfCommandLine(), &NewPlan<perf_tool::PerfPlan>},
      {&record_tool::RecordCommand(), &NewPlan<record_tool::Plan>},
      {&recover_tool::RecoverCommand(), &NewPlan<recover_tool::Plan>},
      {&report_tool::ReportCommand(), &NewPlan<report_tool::ReportPlan>},
      {&script_tool::ScriptCommand(), &NewPlan<script_tool::ScriptPlan>},
      {&symbolize_tool::SymbolizeCommand(), &NewPlan<symbolize_tool::Plan>},
      {&view_tool::ViewCommand(), &NewPlan<view_tool::ViewPlan>},
  };
#if PERFTAPE_HAS_SERVE
  tools.push_back({&serve::ServeCommand(), &NewPlan<serve::ServePlan>});
#endif
  for (const cli::Command* const command :
       {&bundle_tool::BundleCommand(), &perf_tool::PerfCommandLine(),
        &record_tool::RecordCommand()}) {
    for (const cli::Verb& verb : command->verbs) tools.push_back({&verb.command()});
  }
  return tools;
}

}  // namespace perftape
