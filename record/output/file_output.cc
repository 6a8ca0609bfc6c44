// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_output.h"

#include <utility>

#include "record/output/retention.h"

namespace perftape::record {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;  // bytes

}  // namespace

FileOutput::FileOutput(OutputParts& parts, Commits commits, std::optional<RecordingBundle> bundle)
    : parts_(parts), commits_(commits), bundle_(std::move(bundle)) {
  if (const auto interval = parts.files.options().aggregate) {
    aggregator_.emplace(parts.sample_formats, static_cast<std::uint64_t>(interval->count()));
  }
}

Result<FileOutput> FileOutput::Create(OutputParts& parts, Commits commits,
                                      const std::filesystem::path& path, const OutputTarget& target,
                                      OldFile old, Bytes state,
                                      std::vector<std::string>& warnings) {
  TRY_ASSIGN(std::optional<RecordingBundle> bundle, parts.files.PrepareBundle(target));
  TRY_ASSIGN(RecordingFile file, parts.files.CreateFile(path, target, old, warnings));
  TRY(file.Append(state));
  TRY(file.Commit());
  FileOutput output(parts, commits, std::move(bundle));
  TRY(output.StartFile(std::move(file), {}));
  std::vector<std::byte> build_ids;  // the initial state has no samples
  TRY(parts.build_ids.Observe(state, build_ids));
  return output;
}

HitKeepers FileOutput::keepers() {
  return bundle_ ? HitKeepers{&bundle_->files(), &bundle_->jit()} : HitKeepers{};
}

Result<RecordingFile> FileOutput::CreateAtSeam(const std::filesystem::path& path,
                                               Bytes records) const {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  std::vector<std::string> ignored;  // the first file had the same warnings
  TRY_ASSIGN(RecordingFile file, parts_.files.CreateFile(path, target, OldFile::kRefuse, ignored));
  TRY(file.Append(records));
  TRY(file.Commit());
  TRY(file.Publish());
  return file;
}

Status FileOutput::StartFile(RecordingFile file, Bytes state) {
  file_.emplace(std::move(file));
  parts_.counter.StartFile();
  return parts_.build_ids.StartFile(keepers(), state);
}

Result<EndedFile> FileOutput::NextFile(const std::filesystem::path& path, Bytes state) {
  TRY_ASSIGN(RecordingFile next, CreateAtSeam(path, state));
  EndedFile ended = EndFile(Successor::kFollows, 0);
  TRY(StartFile(std::move(next), state));
  return ended;
}

EndedFile FileOutput::EndFile(Successor successor, std::uint64_t time_ns) {
  std::optional<RecordingBundle> next_bundle;
  if (bundle_ && successor == Successor::kFollows) next_bundle.emplace(bundle_->NextFile());
  parts_.build_ids.KeepMissing();
  const RecordCounts missing = parts_.counter.uncommitted();
  const std::uint64_t samples = parts_.counter.samples_in_file();
  unwritten_ += missing;
  unreported_ += missing.samples + missing.lost_samples;
  parts_.counter.Commit();
  EndedFile ended{.file = *std::move(file_),
                  .features = {{perfdata::FeatureBit::kSampleTime, parts_.counter.sample_time()}},
                  .bundle = std::move(bundle_),
                  .notes = notes_.Next(parts_.notes_of(Counts())),
                  .samples = samples};
  if (parts_.build_ids.reads_ids()) {
    ended.features.emplace_back(perfdata::FeatureBit::kBuildId, parts_.build_ids.all());
  }
  file_.reset();
  bundle_.reset();
  if (next_bundle) bundle_.emplace(*std::move(next_bundle));
  // The keepers so far belong to the ended file now, and another thread may destroy them. On a full
  // disk records arrive before the next file begins.
  (void)parts_.build_ids.StartFile(keepers(), {});
  if (!missing.any()) return ended;
  const auto lost = parts_.files.EncodeLost(unreported_, missing.process_events, time_ns);
  if (lost && ended.file.CommitInstead(*lost)) unreported_ = 0;
  return ended;
}

Status FileOutput::Resume(const std::filesystem::path& path, Bytes state, std::uint64_t time_ns) {
  TRY_ASSIGN(const std::vector<std::byte> lost, parts_.files.EncodeLost(unreported_, 0, time_ns));
  std::vector<std::byte> records(state.begin(), state.end());
  records.insert(records.end(), lost.begin(), lost.end());
  TRY_ASSIGN(RecordingFile file, CreateAtSeam(path, records));
  unreported_ = 0;
  return StartFile(std::move(file), state);
}

Status FileOutput::Append(const PassedRecord& record) {
  if (!file_) return {};
  if (aggregator_) {
    aggregator_->AddOther(record.build_ids);
    aggregator_->Add(record.view, record.bytes);
    return {};
  }
  if (piece_failure_) return {};
  TRY(file_->Append(record.build_ids));
  TRY(file_->Append(record.bytes));
  if (file_->uncommitted_bytes() >= kPiece) CommitPiece();
  return {};
}

// A full disk costs only the last piece of a round. The LOST_SAMPLES are the last records of a
// round, so they are not committed before the round.
void FileOutput::CommitPiece() {
  if (commits_ == Commits::kWholeRounds) return;
  if (parts_.counter.uncommitted().lost_samples > 0) return;
  Status committed = CheckReservedSpace();
  if (committed) committed = file_->Commit();
  if (committed) {
    parts_.counter.Commit();
  } else {
    piece_failure_ = std::move(committed).error();
  }
}

Status FileOutput::EndInterval() {
  if (!aggregator_) return {};
  const Status appended = file_ ? file_->Append(aggregator_->records()) : Status();
  aggregator_->Clear();
  return appended;
}

// What the disk lacks is not written, and ends the recording as a full disk does.
Status FileOutput::CheckReservedSpace() const {
  const std::uint64_t reserved = parts_.files.options().reserved_space;
  if (reserved == 0 || file_->fd() < 0) return {};
  const std::filesystem::path directory = file_->requested_path().parent_path();
  TRY_ASSIGN(const std::uint64_t free, FreeSpace(directory.empty() ? "." : directory));
  if (free >= reserved + file_->uncommitted_bytes()) return {};
  return Fail(ErrorCode::kIo, file_->requested_path().native() + ": only " + std::to_string(free) +
                                  " bytes of the disk are free, and --reserve-space keeps " +
                                  std::to_string(reserved) + " to others");
}

Status FileOutput::CommitRound() {
  if (file_) {
    TRY(CommitToFile());
  } else {
    // Processes and mappings are followed, and the next file has them.
    const RecordCounts missing = parts_.counter.uncommitted();
    unwritten_.samples += missing.samples;
    unreported_ += missing.samples + missing.lost_samples;
  }
  parts_.counter.Commit();
  if (parts_.build_ids.HasGrown()) parts_.build_ids.ForgetUnused({});
  return file_ ? file_->Sync() : Status();
}

Status FileOutput::CommitToFile() {
  if (piece_failure_) return Fail(*piece_failure_);
  std::vector<std::byte> finished_round;
  TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, finished_round));
  TRY(file_->Append(finished_round));
  TRY(CheckReservedSpace());
  return file_->Commit();
}

OutputCounts FileOutput::Counts() const {
  OutputCounts counts = {.samples = parts_.counter.samples() - unwritten_.samples,
                         .samples_by_event = parts_.counter.samples_by_event(),
                         .unwritten_samples = unwritten_.samples,
                         .sideband_losses = parts_.counter.sideband_losses(),
                         .unwritten_process_events = unwritten_.process_events};
  if (aggregator_) {
    counts.aggregated = aggregator_->aggregated();
    counts.aggregate_ns = static_cast<std::uint64_t>(parts_.files.options().aggregate->count());
  }
  return counts;
}

}  // namespace perftape::record
