// SPDX-License-Identifier: Apache-2.0
// perf archive (tools/perf/perf-archive.sh of Linux 6.1).
#include <fmt/core.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "formats/base/output_file.h"
#include "formats/bundle/archive_writer.h"
#include "formats/bundle/layout.h"
#include "tools/bundle/open.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

struct ArchivePlan : cli::BaseOptions {
  std::string input;
  std::string output;
};

constexpr cli::Option kArchiveRows[] = {
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kArchiveOptions = cli::Table(cli::InGroup(cli::Group::kOther, kArchiveRows));

constexpr cli::Example kArchiveExamples[] = {
    {"perftape-perf archive perf.data", "write perf.data.tar.bz2"},
};

constexpr cli::Command kArchiveCommand = {
    .name = "perftape-perf archive",
    .purpose =
        "Write the symbols of a recording to FILE.tar.bz2, in the layout of ~/.debug, as perf "
        "archive does. They come from the bundle in the recording.",
    .operands = "[FILE]",
    .options = kArchiveOptions,
    .examples = kArchiveExamples,
};

// perf archive replaces an existing output.
Result<ArchivePlan> ArchivePlanOf(ArchivePlan plan) {
  if (plan.operands.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, "expected one recording, not several");
  }
  plan.input = plan.operands.empty() ? "perf.data" : plan.operands.front();
  plan.output = plan.input + ".tar.bz2";
  return plan;
}

Status Confine(const ArchivePlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.input, grants);
  sandbox::GrantOutput(plan.output, grants);
  return sandbox::Confine(grants);
}

// Writes the members with a build id and their links. Returns how many files have one.
Result<std::size_t> WriteMembers(const bundle::Bundle& bundle, bundle::ArchiveWriter& tar) {
  std::set<std::string> links;
  std::size_t files = 0;
  for (const bundle::UnpackedMember& member : bundle.members()) {
    if (member.is_link()) continue;
    const auto file = bundle::FileAt(member.name);
    if (!file || file->build_id.empty()) continue;
    TRY(tar.AddFile(member.name, bundle.BytesOf(member)));
    const bundle::BuildIdLink link = bundle::LinkTo(member.name, file->build_id);
    if (links.insert(link.name).second) TRY(tar.AddLink(link.name, link.target));
    ++files;
  }
  return files;
}

Result<int> Run(const ArchivePlan& plan, cli::Console& console) {
  Result<bundle::Bundle> bundle = bundle_tool::OpenNamed(plan.input, console);
  std::error_code error;
  if (!bundle && bundle.error().code == ErrorCode::kNotFound &&
      std::filesystem::exists(plan.input, error)) {
    console.Note("'perftape-bundle create' collects the symbols of a recording of perf");
  }
  if (!bundle) return Fail(std::move(bundle).error());
  TRY_ASSIGN(OutputFile out, OutputFile::Create(plan.output, IfExists::kReplace));
  TRY_ASSIGN(UniqueFd fd, out.Duplicate());
  TRY_ASSIGN(bundle::ArchiveWriter tar, bundle::ArchiveWriter::CreateBzip2(std::move(fd)));
  TRY_ASSIGN(const std::size_t files, WriteMembers(*bundle, tar));
  if (files == 0) return Fail(ErrorCode::kNotFound, plan.input + ": no build-ids found");
  TRY(std::move(tar).Finish());
  TRY(std::move(out).Commit());
  TRY(cli::PrintToStdout(fmt::format(
      "Now please run:\n\n$ tar xvf {} -C ~/.debug\n\nwherever you need to run 'perf report' on.\n",
      cli::EscapeForTerminal(plan.output))));
  return cli::kDone;
}

}  // namespace

const cli::Command& ArchiveCommand() {
  return kArchiveCommand;
}

int ArchiveMain(int argc, char** argv) {
  return cli::Main<ArchivePlan>({kArchiveCommand, &ArchivePlanOf, &Run, &Confine, true}, argc,
                                argv);
}

}  // namespace perftape::perf_tool
