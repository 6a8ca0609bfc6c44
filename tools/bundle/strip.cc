// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/base/output_file.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::bundle_tool {
namespace {

// What becomes of the notes of the recorder, which are in the same archive.
enum class Notes : std::uint8_t { kStay, kRemoved };

struct StripPlan : cli::BaseOptions {
  std::string recording;
  std::optional<std::filesystem::path> output;
  IfExists if_exists = IfExists::kRefuse;
  Notes notes = Notes::kStay;
};

constexpr cli::Option kStripOutputRows[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "BUNDLE",
     .help = "write the bundle to this file before it is removed; - is stdout",
     .completion = cli::Completion::kFile,
     .into = cli::StoreAs<&cli::ParseOutput, &StripPlan::output>},
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &StripPlan::if_exists>,
                  "replace an existing BUNDLE"),
    {.name = "all",
     .help = "also remove the recorder's notes about the recording (recording.json); the file then "
             "has exactly the bytes that it had before anything was appended",
     .into = cli::SetTo<Notes::kRemoved, &StripPlan::notes>},
};

constexpr cli::Option kStripOtherRows[] = {
    cli::QuietRow(),
    cli::NoSandboxRow(),
};
constexpr auto kStripOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kStripOutputRows),
                                          cli::InGroup(cli::Group::kOther, kStripOtherRows));

constexpr cli::Example kStripExamples[] = {
    {"perftape-bundle strip perf.data", "the bundle is deleted"},
    {"perftape-bundle strip -o symbols.tar.zst perf.data", "the bundle is kept"},
};

constexpr cli::Command kStripCommand = {
    .name = "perftape-bundle strip",
    .purpose =
        "Remove the bundle from PERF.DATA. perf reads the recording as before. The recorder's "
        "notes about the recording stay.",
    .operands = "PERF.DATA",
    .options = kStripOptions,
    .examples = kStripExamples,
};

Result<StripPlan> StripPlanOf(StripPlan plan) {
  if (plan.operands.size() != 1) {
    return Fail(ErrorCode::kInvalidArgument, "expected one operand: a perf.data");
  }
  plan.recording = plan.operands.front();
  return plan;
}

Status CheckBundleFile(const StripPlan& plan) {
  TRY_ASSIGN(const OutputTarget target, cli::CheckOutput(*plan.output, plan.if_exists));
  TRY(cli::RefuseTerminal(target, "bundle"));
  std::error_code none;
  if (std::filesystem::equivalent(target.path, plan.recording, none)) {
    return Fail(ErrorCode::kInvalidArgument,
                target.name + ": -o names the recording: use another file for the bundle");
  }
  return {};
}

Status WriteBundle(const StripPlan& plan, Bytes archive) {
  TRY_ASSIGN(OutputFile output, OutputFile::Create(*plan.output, plan.if_exists, Readers::kOwner));
  TRY(output.Write(archive));
  return std::move(output).Commit();
}

Result<Bytes> ArchiveIn(Bytes recording) {
  if (!bundle::IsPerfData(recording)) return Fail(ErrorCode::kCorrupt, "is not a perf.data");
  TRY_ASSIGN(const std::optional<bundle::Extent> extent, bundle::FindEmbedded(recording));
  if (!extent) return Fail(ErrorCode::kNotFound, "contains no bundle");
  return recording.subspan(extent->offset, extent->size);
}

// Returns the notes that stay. A damaged bundle is removed with its notes.
Result<std::optional<bundle::RecordingNotes>> NotesThatStay(const StripPlan& plan, Bytes archive) {
  if (plan.notes == Notes::kRemoved) return std::nullopt;
  const auto notes = bundle::FindNotesInArchive(archive);
  if (!notes || !*notes) return std::nullopt;
  TRY_ASSIGN(Input input, Input::Open(plan.recording));
  const auto contents = bundle::Bundle::OpenEmbedded(input);
  if (contents && !*contents) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("contains no bundle, only {}: --all removes it", bundle::kNotesName));
  }
  return *notes;
}

// Removes the archive that begins at this offset, and appends the notes again.
Status Cut(int recording, std::uint64_t offset,
           const std::optional<bundle::RecordingNotes>& notes) {
  if (notes) {
    return bundle::EmbedWith(
        recording, [&](UniqueFd end) { return bundle::WriteNotesArchive(std::move(end), *notes); });
  }
  if (ftruncate(recording, static_cast<off_t>(offset)) != 0) return FailErrno("ftruncate", errno);
  if (fsync(recording) != 0) return FailErrno("fsync", errno);
  return {};
}

Status Confine(const StripPlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.recording, grants);
  grants.writable.emplace_back(plan.recording);
  if (plan.output) sandbox::GrantOutput(*plan.output, grants);
  return sandbox::Confine(grants);
}

Result<int> Run(const StripPlan& plan, cli::Console& console) {
  if (plan.output) TRY(CheckBundleFile(plan));
  const UniqueFd fd(open(plan.recording.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return FailErrno(plan.recording, errno);
  TRY_ASSIGN(const MappedFile recording, MappedFile::FromFd(fd.get(), plan.recording));
  const auto archive = ArchiveIn(recording.bytes());
  if (!archive) return Fail(InContext(plan.recording, archive.error()));
  const auto notes = NotesThatStay(plan, *archive);
  if (!notes) return Fail(InContext(plan.recording, notes.error()));
  if (plan.output) TRY(WriteBundle(plan, *archive));
  const auto offset = static_cast<std::uint64_t>(archive->data() - recording.bytes().data());
  if (Status cut = Cut(fd.get(), offset, *notes); !cut) {
    return Fail(InContext(plan.recording, std::move(cut).error()));
  }
  console.Plain(fmt::format("{}: removed the bundle of {} bytes", plan.recording, archive->size()));
  return cli::kDone;
}

}  // namespace

const cli::Command& StripCommand() {
  return kStripCommand;
}

int StripMain(int argc, char** argv) {
  return cli::Main<StripPlan>({kStripCommand, &StripPlanOf, &Run, &Confine}, argc, argv);
}

}  // namespace perftape::bundle_tool
