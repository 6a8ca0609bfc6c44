// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/embed.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <optional>
#include <string>

#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/embedding.h"
#include "tools/bundle/open.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::bundle_tool {
namespace {

struct EmbedPlan : cli::BaseOptions {
  std::string bundle;
  std::string recording;
};

constexpr cli::Option kEmbedRows[] = {
    cli::NoSandboxRow(),
    cli::QuietRow(),
};
constexpr auto kEmbedOptions = cli::Table(kEmbedRows);

constexpr cli::Command kEmbedCommand = {
    .name = "perftape-bundle embed",
    .purpose =
        "Append a bundle to a perf.data and replace an existing bundle. perf reads the recording "
        "as before.",
    .operands = "BUNDLE PERF.DATA",
    .options = kEmbedOptions,
    .epilogue =
        "Examples:\n"
        "  perftape-bundle embed symbols.tar.zst perf.data\n"
        "  perftape-bundle embed perf.data.tar.bz2 perf.data   # of perf archive\n"};

Result<EmbedPlan> EmbedPlanOf(EmbedPlan plan) {
  if (plan.operands.size() != 2) {
    return Fail(ErrorCode::kInvalidArgument, "expected two operands: a bundle and a perf.data");
  }
  plan.bundle = plan.operands[0];
  plan.recording = plan.operands[1];
  return plan;
}

// Returns the bytes of the bundle itself, from a file of its own or from another perf.data.
Result<Bytes> ArchiveIn(Input& input) {
  TRY_ASSIGN(const Bytes bytes, input.All());
  if (!bundle::IsPerfData(bytes)) return bytes;
  TRY_ASSIGN(const std::optional<bundle::Extent> extent, bundle::FindEmbedded(bytes));
  if (!extent) return Fail(ErrorCode::kNotFound, "this perf.data contains no bundle");
  return bytes.subspan(extent->offset, extent->size);
}

Status Confine(const EmbedPlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.bundle, grants);
  sandbox::GrantInput(plan.recording, grants);
  grants.writable.emplace_back(plan.recording);
  return sandbox::Confine(grants);
}

Result<int> Run(const EmbedPlan& plan, cli::Console& console) {
  TRY_ASSIGN(Input input, Input::Open(plan.bundle));
  const auto archive = ArchiveIn(input);
  if (!archive) return Fail(InContext(input.name(), archive.error()));
  const auto sound = bundle::Bundle::FromBytes(*archive);
  if (!sound) return Fail(InContext(input.name(), sound.error()));
  // A copy, because the input may be the file that is written to.
  const std::vector<std::byte> copy(archive->begin(), archive->end());

  const UniqueFd recording(open(plan.recording.c_str(), O_RDWR | O_CLOEXEC));
  if (!recording) return FailErrno(plan.recording, errno);
  if (auto appended = bundle::Embed(recording.get(), copy); !appended) {
    return Fail(InContext(plan.recording, std::move(appended).error()));
  }
  console.Plain(fmt::format("{}: added a bundle of {} bytes", plan.recording, copy.size()));
  return cli::kDone;
}

}  // namespace

const cli::Command& EmbedCommand() {
  return kEmbedCommand;
}

int EmbedMain(int argc, char** argv) {
  return cli::Main<EmbedPlan>({kEmbedCommand, &EmbedPlanOf, &Run, &Confine}, argc, argv);
}

}  // namespace perftape::bundle_tool
