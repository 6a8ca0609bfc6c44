// SPDX-License-Identifier: Apache-2.0
// The requests to a process that opens files (file_service.h), and its answers. Also checks whether
// a file is the one of a mapping.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/perfdata/address_space.h"

namespace perftape::record {

// Returns whether an open file is the mapped one. A mapping without inode matches any file.
bool IsFileOf(const perfdata::Dso& dso, int fd);

// Returns "7f2003018000-7f200316e000", the name of a mapping in /proc/PID/map_files.
std::string MapFileName(const perfdata::Region& region);

// A file as another process sees it.
struct FileRequest {
  std::uint32_t pid = 0;  // of that process; 0: the recorder's own view
  std::string path = {};
  // If not empty, the path is one below it and does not lead out of it (OpenPathWithin).
  std::string root = {};
  // The file must be this one (perfdata::Dso). An inode of 0 is any.
  std::uint64_t device = 0, inode = 0;
  // Not a file: what ReadProcessContext (record/processes/process_context.h) returns for `pid`.
  bool is_process_context = false;
};

enum class FileOutcome : std::uint8_t {
  kOpened,
  kUnreachable,  // no such file, or it may not be opened
  kReplaced,     // another file has this path
  kNotRegular,   // a FIFO, a device, a directory
  kTooLarge,     // to be copied
  kNoAnswer,     // its file system did not answer in time
};

struct OpenedFile {
  FileOutcome outcome = FileOutcome::kUnreachable;
  struct stat status = {};  // of the file; all zero if it was not found
  bool is_copy = false;     // of the file as it was when it was opened
  UniqueFd file = {};       // with kOpened, for reading

  bool is_found() const { return status.st_mode != 0; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(status.st_size); }
};

// Opens the path in this process with O_PATH, which may already wait for a file system.
UniqueFd OpenPathOnly(const FileRequest& request);
// Asks the file system about a file from OpenPathOnly. With kOpened it can be opened for reading.
OpenedFile Examine(const FileRequest& request, const UniqueFd& path_only);

// As messages between processes.
std::vector<std::byte> EncodeRequest(const FileRequest& request);
std::optional<FileRequest> DecodeRequest(Bytes bytes);
struct FileAnswer {
  FileOutcome outcome = FileOutcome::kUnreachable;
  struct stat status = {};
  bool is_copy = false;       // otherwise the descriptor was opened with O_PATH
  std::uint64_t took_ns = 0;  // since the request was received
};

}  // namespace perftape::record
