// SPDX-License-Identifier: Apache-2.0
// Processes that open files which other users chose. A file system of another user (FUSE) or of a
// dead server (NFS) may never answer, and no signal can end a process that waits for it. Therefore
// worker processes open these files; a worker that gets no answer is abandoned, and the recorder
// itself never waits for a file system. A worker returns an open file if the file system is local,
// and otherwise a copy of the file. The workers also read the memory of processes that other users
// control.
//
// The workers are children of a process that is forked at the start, which opens nothing itself: a
// recorder must not create processes after it has given up its privileges.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/machine/clock.h"
#include "record/symbols/file_request.h"

namespace perftape::record {

// Not thread-safe.
class FileService {
 public:
  // Forks the process that starts workers. Each calls `confine`, which may be empty, before its
  // first file. A worker copies files of at most `largest_copy` bytes.
  static Result<FileService> Start(std::function<Status()> confine, std::uint64_t largest_copy);

  FileService(FileService&& other) noexcept;
  FileService& operator=(FileService&&) = delete;
  // Ends all workers, but does not wait for those that wait for a file system.
  ~FileService();

  // The process that starts workers.
  pid_t pid() const { return pid_; }

  // Returns the answer to one request. Returns nothing after `timeout` (WaitForAnswer): the worker
  // is abandoned, and the next request starts another. The file may be a copy in $TMPDIR without a
  // name.
  std::optional<OpenedFile> Ask(const FileRequest& request, std::chrono::milliseconds timeout);
  // How long Ask has waited so far for file systems and for the memory of others. On a busy machine
  // a request also waits until the worker has a CPU; that does not count.
  std::uint64_t waited_ns() const { return waited_ns_; }

 private:
  FileService() = default;
  bool StartWorker(std::chrono::milliseconds timeout);
  // Waits for an answer. If there is none, the time counts as waited for.
  Waited Wait(int channel, std::chrono::milliseconds timeout);

  pid_t pid_ = -1;
  UniqueFd channel_;  // to the process that starts workers
  UniqueFd worker_;   // to the worker; empty: none runs
  std::uint64_t waited_ns_ = 0;
};

}  // namespace perftape::record
