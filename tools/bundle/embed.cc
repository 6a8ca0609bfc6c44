// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <optional>
#include <string>

#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "tools/bundle/open.h"
#include "tools/bundle/verbs.h"
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
    cli::QuietRow(),
    cli::NoSandboxRow(),
};
constexpr auto kEmbedOptions = cli::Table(cli::InGroup(cli::Group::kOther, kEmbedRows));

constexpr cli::Example kEmbedExamples[] = {
    {"perftape-bundle embed symbols.tar.zst perf.data", "a bundle"},
    {"perftape-bundle embed perf.data.tar.bz2 perf.data", "a tarball of perf archive"},
};

constexpr cli::Command kEmbedCommand = {
    .name = "perftape-bundle embed",
    .purpose =
        "Append a bundle to a perf.data and replace an existing bundle. perf reads the recording "
        "as before. The recorder's notes about the recording (recording.json) stay.",
    .operands = "BUNDLE PERF.DATA",
    .options = kEmbedOptions,
    .examples = kEmbedExamples,
};

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

// Returns what the recorder noted in the perf.data that the bundle is added to.
Result<std::optional<bundle::RecordingNotes>> NotesOf(int fd, const std::string& name,
                                                      cli::Console& console) {
  TRY_ASSIGN(const MappedFile recording, MappedFile::FromFd(fd, name));
  auto notes = bundle::FindNotes(recording.bytes());
  if (notes) return notes;
  console.Warning(fmt::format("{}: its bundle is replaced, and {} in it is lost: {}", name,
                              bundle::kNotesName, notes.error().message));
  return std::nullopt;
}

// Embeds the archive with these notes, and returns the size of the bundle. Another recording's
// notes do not come along.
Result<std::uint64_t> Append(int fd, Bytes archive,
                             const std::optional<bundle::RecordingNotes>& notes) {
  TRY_ASSIGN(const std::optional<bundle::RecordingNotes> others,
             bundle::FindNotesInArchive(archive));
  if (others == notes) {
    TRY(bundle::Embed(fd, archive));
    return archive.size();
  }
  std::uint64_t size = 0;
  TRY(bundle::EmbedWith(fd, [&](UniqueFd end) -> Status {
    TRY_ASSIGN(size, bundle::WriteArchiveWithNotes(std::move(end), archive, notes));
    return {};
  }));
  return size;
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
  TRY_ASSIGN(const std::optional<bundle::RecordingNotes> notes,
             NotesOf(recording.get(), plan.recording, console));
  const auto size = Append(recording.get(), copy, notes);
  if (!size) return Fail(InContext(plan.recording, size.error()));
  console.Plain(fmt::format("{}: added a bundle of {} bytes", plan.recording, *size));
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
