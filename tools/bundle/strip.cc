// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/strip.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "formats/base/file.h"
#include "formats/bundle/embedding.h"
#include "tools/common/cli/console.h"

namespace perftape::bundle_tool {
namespace {

constexpr cli::Option kOptions[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "first write the bundle to FILE; - is stdout",
     .completion = cli::Completion::kFile},
    {.name = "force", .letter = 'f', .help = "replace an existing FILE"},
    {.name = "quiet", .letter = 'q', .help = "tell nothing where it went well"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-bundle strip",
    .purpose = "Take the bundle out of a perf.data, which then has the bytes that it had before.",
    .operands = "PERF.DATA",
    .options = kOptions,
    .epilogue =
        "Example:\n"
        "  perftape-bundle strip -o symbols.tar.zst perf.data\n"};

struct Plan {
  std::string recording;
  std::optional<std::string> output = {};
  IfExists if_exists = IfExists::kRefuse;
};

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  if (parsed.operands().size() != 1) return Fail(ErrorCode::kInvalidArgument, "which perf.data?");
  Plan plan{.recording = parsed.operands().front()};
  if (const auto output = parsed.Value("output")) plan.output = *output;
  if (parsed.Has("force")) plan.if_exists = IfExists::kReplace;
  return plan;
}

Status WriteBundle(const Plan& plan, Bytes archive) {
  TRY_ASSIGN(OutputFile output, OutputFile::Create(*plan.output, plan.if_exists));
  TRY(output.Write(archive));
  return std::move(output).Commit();
}

Result<bundle::Extent> FindIn(Bytes recording) {
  if (!bundle::IsPerfData(recording)) return Fail(ErrorCode::kCorrupt, "is no perf.data");
  TRY_ASSIGN(const std::optional<bundle::Extent> extent, bundle::FindEmbedded(recording));
  if (!extent) return Fail(ErrorCode::kNotFound, "has no bundle in it");
  return *extent;
}

Result<int> Run(const Plan& plan, cli::Console& console) {
  const UniqueFd fd(open(plan.recording.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return FailErrno(plan.recording, errno);
  TRY_ASSIGN(const MappedFile recording, MappedFile::FromFd(fd.get(), plan.recording));
  const auto extent = FindIn(recording.bytes());
  if (!extent) return Fail(InContext(plan.recording, extent.error()));
  if (plan.output) TRY(WriteBundle(plan, recording.bytes().subspan(extent->offset, extent->size)));
  if (ftruncate(fd.get(), static_cast<off_t>(extent->offset)) != 0 || fsync(fd.get()) != 0) {
    return FailErrno(plan.recording, errno);
  }
  console.Plain(fmt::format("{}: its bundle of {} bytes is out", plan.recording, extent->size));
  return cli::kDone;
}

}  // namespace

const cli::Command& StripCommand() {
  return kCommand;
}

int StripMain(int argc, char** argv) {
  return cli::Main<Plan>({kCommand, &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::bundle_tool
