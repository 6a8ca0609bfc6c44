// SPDX-License-Identifier: Apache-2.0
// perftape-doctor: checks what perftape-record can record here, and what is missing for the rest.
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "record/machine/requirements.h"
#include "record/machine/system_facts.h"
#include "tools/common/cli/console.h"
#include "tools/common/sandbox/capabilities.h"
#include "tools/doctor/command_line.h"
#include "tools/doctor/report.h"
#include "tools/mains.h"

namespace perftape::doctor_tool {
namespace {

// Executes "perftape-record doctor", which prints the same report. Returns only with an error. A
// single file is the recorder if it gets this name.
Result<int> RunAsRecorder(const Plan& plan, const std::string& recorder) {
  std::vector<std::string> words = {"perftape-record"};
  if (plan.quiet) words.emplace_back("--quiet");
  words.emplace_back(kDoctorWord);
  if (plan.report_as == ReportAs::kJson) words.emplace_back("--json");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(recorder.c_str(), argv.data());
  return FailErrno(recorder, errno);
}

// If the recorder's file grants capabilities that this process lacks, only the recorder itself can
// try what it can record.
Result<int> Run(const Plan& plan, cli::Console& console) {
  const std::filesystem::path recorder = record::RecorderFile();
  const std::uint64_t granted = sandbox::FileCapabilities(recorder);
  if ((granted & ~record::ReadSystemFacts().capabilities) != 0) {
    return RunAsRecorder(plan, recorder.string());
  }
  return PrintDiagnosis(plan.report_as, console.verbosity());
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<Plan>({DoctorCommand(), &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::doctor_tool
