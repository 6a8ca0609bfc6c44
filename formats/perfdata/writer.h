// SPDX-License-Identifier: Apache-2.0
// Writes a perf.data so that it opens in perf at every instant: records are appended behind what is
// committed, and one 8-byte pwrite of data.size commits them. perf reads a file whose feature bits
// are clear and whose data.size is smaller than what is there; it reads nothing of one whose
// data.size runs ahead of the data (tools/perf/util/session.c, perf_session__read_header).
//
//   TRY_ASSIGN(Writer writer, Writer::Create("perf.data", events, {}));
//   TRY(writer.Append(record));        // collected in memory
//   TRY(writer.Commit());              // now in the file, whatever happens next
//   TRY(writer.Publish());             // now under its name; the old file is perf.data.old
//   TRY(std::move(writer).Finish(features));
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

// Whatever takes finished records: the Writer, a vector in a test.
template <class Sink>
concept RecordSink = requires(Sink& sink, Bytes record) {
  { sink.Append(record) } -> std::same_as<Status>;
};

// What becomes of a file that has the name already: it becomes `path`.old, as perf keeps it, or
// goes.
enum class OldFile : std::uint8_t { kKeep, kReplace };

class Writer {
 public:
  // A file-mode writer. The file gets a temporary name beside `path` until Publish. Header, ids and
  // attributes are written at once. `events` are copied.
  static Result<Writer> Create(const std::filesystem::path& path, std::span<const Event> events,
                               OldFile old = OldFile::kKeep);

  // A pipe-mode writer on `fd`, which it owns: header, HEADER_ATTR and EVENT_UPDATE for each event,
  // HEADER_FEATURE for each of `features` (those of file mode only, such as BUILD_ID, must not be
  // among them).
  static Result<Writer> ToPipe(UniqueFd fd, std::span<const Event> events,
                               std::span<const Feature> features);

  Writer(Writer&&) noexcept = default;
  Writer& operator=(Writer&&) = delete;
  ~Writer();  // Removes a file that was never published; a published one stays as last committed.

  Container container() const { return container_; }

  // Takes one or several whole records, 8-byte aligned.
  Status Append(Bytes records);

  // Writes what was appended, then commits it with data.size (a pipe has nothing to commit). After
  // an error (kIo: disk full) the file is as it was at the last Commit, and stays so.
  Status Commit();

  // Gives the file its name; OldFile says what becomes of an existing one. Nothing for a pipe. Call
  // it when what is committed is worth opening.
  Status Publish();

  // Commits, writes the feature sections behind the data, then their bits into the header, and
  // syncs. For a pipe, only commits. Publishes what was not published yet. Where the features
  // cannot be written (kIo: disk full) the file is published without them.
  // Returns the size in bytes of the file, or of all that went through the pipe.
  Result<std::uint64_t> Finish(std::span<const Feature> features) &&;

  // Bytes of the file, or of the pipe, so far: committed ones only.
  std::uint64_t size() const { return file_size_; }

 private:
  Writer() = default;
  Status WriteHeader(std::span<const Event> events);
  Status WriteFeatures(std::span<const Feature> features);

  Container container_ = Container::kFile;
  UniqueFd fd_;
  std::filesystem::path path_, temporary_path_;
  OldFile old_ = OldFile::kKeep;
  std::uint64_t data_offset_ = 0;
  std::uint64_t file_size_ = 0;
  std::vector<std::byte> pending_;
  bool failed_ = false;
};

}  // namespace perftape::perfdata
