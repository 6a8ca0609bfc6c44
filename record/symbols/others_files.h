// SPDX-License-Identifier: Apache-2.0
// Opens files that other users control: binaries, and debug files in the directory of a binary.
// Files of local file systems are opened directly. All others are opened by another process
// (file_service.h), so that a file system that never answers does not stop the recorder. That
// process also reads the memory of other users' processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "record/symbols/file_request.h"
#include "record/symbols/file_service.h"

namespace perftape::record {

// Thread-safe.
class OthersFiles {
 public:
  // How long the recorder waits for one file, and for all files: kFirstWaitNs plus a tenth of the
  // time since the start.
  static constexpr std::chrono::milliseconds kAnswer{1000};
  static constexpr std::uint64_t kFirstWaitNs = 2'000'000'000;

  // Without a service: this process opens all files itself. For tools without privileges and tests.
  OthersFiles() = default;
  explicit OthersFiles(FileService service);

  // Starts the service. `confine` gives up the privileges of its processes.
  static Result<std::shared_ptr<OthersFiles>> Start(std::function<Status()> confine);

  // The process of the service; 0: there is none.
  pid_t service_pid() const { return service_ ? service_->pid() : 0; }

  // Opens the file of a mapping. `path` is one of its names in /proc or the file system.
  OpenedFile OpenMapped(std::uint32_t pid, const std::filesystem::path& path,
                        const perfdata::Dso& dso);
  // Opens a path of this process.
  OpenedFile OpenPath(const std::filesystem::path& path);

  // Opens a path below `root`, which is that of process `pid`, or the recorder's own if `pid` is 0.
  // No link leads out of it (OpenPathWithin).
  OpenedFile OpenWithin(std::uint32_t pid, const std::filesystem::path& root,
                        const std::string& path);

  // Returns the header and the payload of the context of a process (ReadProcessContext); nothing if
  // it has none now. Processes whose memory does not answer are reported to the user; after
  // kMostSilent of them, no more are read.
  std::optional<std::vector<std::byte>> ReadContextOf(std::uint32_t pid);

  // Adds to the messages for the user. Keeps each text once, and at most kMostTold.
  void Tell(const std::string& path, std::string_view problem);
  // What was not read, and why: "/home/x/app: its file system did not answer within 1 s".
  std::vector<std::string> told() const;

 private:
  static constexpr std::size_t kMostTold = 32;
  // After this many file systems without an answer, no more are asked.
  static constexpr std::size_t kMostSilent = 16;

  OpenedFile Open(const FileRequest& request, const std::string& name, const std::string& key);
  OpenedFile AskFor(const FileRequest& request, const std::string& name, const std::string& key);
  // Returns a copy that was made before.
  std::optional<OpenedFile> FindCopy(const FileRequest& request);
  void KeepCopy(const FileRequest& request, const OpenedFile& opened);

  using CopyKey = std::tuple<std::uint64_t, std::uint64_t, std::string>;

  std::mutex service_mutex_;  // of what follows, while a request waits
  std::optional<FileService> service_;
  std::uint64_t start_ns_ = 0;
  std::set<std::string> silent_;  // file systems that did not answer
  std::size_t silent_processes_ = 0;
  std::map<CopyKey, OpenedFile> copies_;
  std::uint64_t copied_bytes_ = 0;

  mutable std::mutex told_mutex_;  // of what follows
  std::set<std::string> told_;
  std::uint64_t untold_ = 0;
};

}  // namespace perftape::record
