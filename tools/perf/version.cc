// SPDX-License-Identifier: Apache-2.0
// perf version (tools/perf/builtin-version.c of Linux 6.1).
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "tools/common/cli/console.h"
#include "tools/common/cli/rows.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

struct VersionPlan : cli::BaseOptions {
  bool build_options = false;
};

constexpr cli::Option kVersionRows[] = {
    {.name = "build-options",
     .help = "print what perf was built with, as far as programs ask for it",
     .into = cli::Set<&VersionPlan::build_options>},
    cli::VerboseRow("the same as --build-options"),
};
constexpr auto kVersionOptions = cli::Table(cli::InGroup(cli::Group::kOther, kVersionRows));

constexpr cli::Example kVersionExamples[] = {
    {"perftape-perf version", "perf version 6.1.0 (perftape ...)"},
};

constexpr cli::Command kVersionCommand = {
    .name = "perftape-perf version",
    .purpose = "Print the version of perf that perftape is compatible with, and its own.",
    .operands = "",
    .options = kVersionOptions,
    .operand_completion = cli::Completion::kNothing,
    .examples = kVersionExamples,
};

// Programs search the second number, and compare it.
constexpr std::string_view kPerfVersion = "6.1.0";

// hotspot records with -z if it finds "zstd: [ on  ]".
struct BuildOption {
  std::string_view name;
  bool is_on;
  std::string_view macro;
};
constexpr BuildOption kBuildOptions[] = {
    {"dwarf", true, "HAVE_DWARF_SUPPORT"},
    {"dwarf_getlocations", false, "HAVE_DWARF_GETLOCATIONS_SUPPORT"},
    {"syscall_table", true, "HAVE_SYSCALL_TABLE_SUPPORT"},
    {"libbfd", false, "HAVE_LIBBFD_SUPPORT"},
    {"debuginfod", false, "HAVE_DEBUGINFOD_SUPPORT"},
    {"libelf", true, "HAVE_LIBELF_SUPPORT"},
    {"libnuma", false, "HAVE_LIBNUMA_SUPPORT"},
    {"libperl", false, "HAVE_LIBPERL_SUPPORT"},
    {"libpython", false, "HAVE_LIBPYTHON_SUPPORT"},
    {"libslang", false, "HAVE_SLANG_SUPPORT"},
    {"libcrypto", false, "HAVE_LIBCRYPTO_SUPPORT"},
    {"libunwind", false, "HAVE_LIBUNWIND_SUPPORT"},
    {"zlib", true, "HAVE_ZLIB_SUPPORT"},
    {"lzma", true, "HAVE_LZMA_SUPPORT"},
    {"get_cpuid", false, "HAVE_AUXTRACE_SUPPORT"},
    {"bpf", true, "HAVE_LIBBPF_SUPPORT"},
    {"aio", false, "HAVE_AIO_SUPPORT"},
    {"zstd", true, "HAVE_ZSTD_SUPPORT"},
    {"libpfm4", false, "HAVE_LIBPFM"},
};

Result<VersionPlan> VersionPlanOf(VersionPlan plan) {
  return plan;
}

Result<int> Run(const VersionPlan& plan, cli::Console& /*console*/) {
  std::string text = fmt::format("perf version {} (perftape {})\n", kPerfVersion, PERFTAPE_VERSION);
  if (plan.build_options || plan.verbose) {
    for (const BuildOption& option : kBuildOptions) {
      text += fmt::format("{:>22}: [ {} ]  # {}\n", option.name, option.is_on ? "on " : "OFF",
                          option.macro);
    }
  }
  TRY(cli::PrintToStdout(text));
  return cli::kDone;
}

}  // namespace

const cli::Command& VersionCommand() {
  return kVersionCommand;
}

int VersionMain(int argc, char** argv) {
  return cli::Main<VersionPlan>({kVersionCommand, &VersionPlanOf, &Run}, argc, argv);
}

}  // namespace perftape::perf_tool
