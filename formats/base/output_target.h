// SPDX-License-Identifier: Apache-2.0
// What the name of an output stands for: a file to be made or replaced, or something that is
// written to as it is. All tools decide this here.
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

// Who may do what with a file.
struct FileAccess {
  mode_t mode = 0;  // the permission bits
  uid_t owner = 0;
  gid_t group = 0;
};

struct OutputTarget {
  enum class Kind : std::uint8_t {
    kStream,        // a descriptor of this process, a device, a named pipe: never replaced
    kNewFile,       // nothing has the name yet
    kExistingFile,  // a regular file
  };

  Kind kind = Kind::kNewFile;
  std::string name;            // as the user gave it, "stdout" for "-": for messages
  std::filesystem::path path;  // the same with its symbolic links followed
  int descriptor = -1;         // of a stream that this process has open
  bool is_named_pipe = false;
  // Of an existing file. Nothing where another user may have put it there on purpose: in a
  // directory such as /tmp, whose files anyone can make.
  std::optional<FileAccess> access;

  bool is_stream() const { return kind == Kind::kStream; }
  bool is_stdout() const;
};

// "-" is stdout, and so is what leads to it (/dev/stdout, /dev/fd/1). Other names of this process's
// descriptors are these descriptors. All other symbolic links are followed to the file at their
// end, which need not be there, so that a link is never replaced by a file. (perf record renames a
// link to a file that is not empty, and writes through all others.)
//
// kPermission for a symbolic link or a named pipe that another user has put into a sticky directory
// that all may write to (as the kernel's protected_symlinks and protected_fifos have it); kIo for a
// directory; else what the file system says.
Result<OutputTarget> ResolveOutput(const std::filesystem::path& path);

// kInvalidArgument where `target` is a file that must not be replaced.
Status CheckExisting(const OutputTarget& target, IfExists if_exists);

// A descriptor to write a stream with. A named pipe waits for its reader, until `stop` is
// requested.
Result<UniqueFd> OpenStream(const OutputTarget& target, const std::stop_token& stop = {});

bool IsTerminal(const OutputTarget& target);

}  // namespace base
}  // namespace perftape
