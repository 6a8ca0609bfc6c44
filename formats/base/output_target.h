// SPDX-License-Identifier: Apache-2.0
// Decides what the name of an output refers to: a file that is created or replaced, or a stream
// that is written directly. All tools use this one rule.
//
//   TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
//   if (target.is_stream()) {
//     TRY_ASSIGN(UniqueFd fd, OpenStream(target));
//     ...
//   }
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

enum class IfExists : std::uint8_t { kRefuse, kReplace };

// The access rights of a file.
struct FileAccess {
  mode_t mode = 0;  // the permission bits
  uid_t owner = 0;
  gid_t group = 0;
};

struct OutputTarget {
  enum class Kind : std::uint8_t {
    kStream,        // a descriptor of this process, a device, a named pipe: never replaced
    kNewFile,       // the name is free
    kExistingFile,  // a regular file
  };

  Kind kind = Kind::kNewFile;
  std::string name;            // as the user gave it, "stdout" for "-"; for messages
  std::filesystem::path path;  // after its symbolic links; empty for a descriptor
  int descriptor = -1;         // if the stream is a descriptor of this process
  bool is_named_pipe = false;
  // Of an existing file. Nothing if another user may have planted the file: in a directory such as
  // /tmp, all users can create files.
  std::optional<FileAccess> access;

  bool is_stream() const { return kind == Kind::kStream; }
  bool is_stdout() const;
};

// "-" is stdout, and so is a name that leads to it (/dev/stdout, /dev/fd/1). Other names of
// descriptors of this process mean these descriptors. All other symbolic links are followed to the
// file at their end, which need not exist. So a file never replaces a link. (perf record renames a
// link to a file that is not empty, and writes through all other links.)
//
// Returns kPermission for a symbolic link or a named pipe that another user owns in a sticky,
// world-writable directory (the rule of the kernel's protected_symlinks and protected_fifos).
// Returns kIo for a directory, and otherwise the error of the file system.
Result<OutputTarget> ResolveOutput(const std::filesystem::path& path);

// Returns kInvalidArgument if `target` is an existing file and must not be replaced.
Status CheckExisting(const OutputTarget& target, IfExists if_exists);

// Opens a stream for writing. For a named pipe, waits until a reader opens it or `stop` is
// requested (kIo).
Result<UniqueFd> OpenStream(const OutputTarget& target, const std::stop_token& stop = {});

// Whether `target` is a terminal. Does not open a named pipe, because that would wait for a reader.
bool IsTerminal(const OutputTarget& target);

}  // namespace base
}  // namespace perftape
