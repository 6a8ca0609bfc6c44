// SPDX-License-Identifier: Apache-2.0
#include "record/processes/proc_snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/moved_text.h"
#include "formats/perfdata/record.h"
#include "record/machine/proc_files.h"
#include "record/processes/moved_text_in_maps.h"

namespace perftape::record {
namespace {

constexpr std::size_t kCommLength = 15;  // TASK_COMM_LEN without its NUL

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Reads files below one directory into one buffer.
class ProcReader {
 public:
  static Result<ProcReader> Open(const std::filesystem::path& root) {
    UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return FailErrno(root.string(), errno);
    return ProcReader(std::move(fd));
  }

  // Returns the whole file, valid until the next Read. Returns nothing and sets errno on an error.
  std::optional<std::string_view> Read(const std::string& name) {
    const UniqueFd fd(::openat(root_.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return std::nullopt;
    std::size_t used = 0;
    while (true) {
      if (used == buffer_.size()) buffer_.resize(buffer_.size() * 2);
      const ssize_t got = ::read(fd.get(), buffer_.data() + used, buffer_.size() - used);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) return std::string_view(buffer_).substr(0, used);
      used += static_cast<std::size_t>(got);
    }
  }

  // Returns the names in a directory that are numbers, ascending. Returns nothing and sets errno on
  // an error.
  std::optional<std::vector<std::uint32_t>> Numbers(const std::string& name) const {
    const int fd = ::openat(root_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd));
    if (directory == nullptr) {
      ::close(fd);
      return std::nullopt;
    }
    std::vector<std::uint32_t> numbers;
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::optional<std::uint64_t> number = ParseNumber(entry->d_name);
      if (number && *number <= UINT32_MAX) numbers.push_back(static_cast<std::uint32_t>(*number));
    }
    std::ranges::sort(numbers);
    return numbers;
  }

  // Returns device and inode of each namespace of a task, in the order of the record; 0 for one
  // that cannot be read.
  std::vector<std::uint64_t> NamespacesOf(const std::string& task) const {
    // enum of include/uapi/linux/perf_event.h: NET_NS_INDEX and the following.
    constexpr const char* kNames[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    std::vector<std::uint64_t> links;
    for (const char* name : kNames) {
      struct stat status = {};
      const std::string path = task + "/ns/" + name;
      if (::fstatat(root_.get(), path.c_str(), &status, 0) != 0) status = {};
      links.push_back(status.st_dev);
      links.push_back(status.st_ino);
    }
    return links;
  }

 private:
  explicit ProcReader(UniqueFd root) : root_(std::move(root)), buffer_(64 << 10, '\0') {}

  UniqueFd root_;
  std::string buffer_;
};

// Returns the mount point of hugetlbfs; empty if it is not mounted.
std::string HugetlbfsMount(ProcReader& proc) {
  std::optional<std::string_view> mounts = proc.Read("mounts");
  if (!mounts) return {};
  while (std::optional<std::string_view> line = NextLine(*mounts)) {
    NextField(*line, ' ');  // device
    const std::string_view path = NextField(*line, ' ');
    if (NextField(*line, ' ') == "hugetlbfs") return std::string(path);
  }
  return {};
}

bool IsBelow(std::string_view path, std::string_view directory) {
  return !directory.empty() && path.starts_with(directory) && path.size() > directory.size() &&
         path[directory.size()] == '/';
}

class Snapshot {
 public:
  Snapshot(ProcReader& proc, const perfdata::SampleFormat& format, std::vector<std::byte>& out,
           const SnapshotContent& content)
      : proc_(proc),
        format_(format),
        out_(out),
        content_(content),
        hugetlbfs_(HugetlbfsMount(proc)) {}

  Status Add(std::uint32_t pid) {
    const std::string directory = std::to_string(pid);
    const std::optional<std::string_view> text = proc_.Read(directory + "/stat");
    if (!text) return {};
    const std::optional<TaskStat> stat = ParseTaskStat(*text);
    if (!stat) return {};

    const bool is_kernel_thread = stat->is_kernel_thread;
    if (!is_kernel_thread) {
      TRY(AddFork({.pid = pid, .ppid = stat->ppid, .tid = pid, .ptid = stat->ppid}));
    }
    TRY(AddNamespaces(pid, pid));
    if (is_kernel_thread) return AddComm(pid, pid, stat->comm);
    TRY(AddComm(pid, pid, stat->comm));

    std::vector<std::uint32_t> threads =
        proc_.Numbers(directory + "/task").value_or(std::vector{pid});
    std::erase(threads, pid);
    if (pid != content_.before_exec) TRY(AddMappings(pid, threads));
    for (const std::uint32_t tid : threads) TRY(AddThread(pid, tid));
    return {};
  }

 private:
  // Like perf, names the first thread as the parent of every thread. kMiscForkExec prevents readers
  // from copying the mappings of the parent, because all mappings are written.
  Status AddFork(const perfdata::Task& task) {
    return perfdata::Encode(perfdata::Fork{task}, {}, format_, perfdata::kMiscForkExec, out_);
  }

  Status AddNamespaces(std::uint32_t pid, std::uint32_t tid) {
    if (!content_.namespaces) return {};
    const std::vector<std::uint64_t> links = proc_.NamespacesOf(std::to_string(tid));
    const perfdata::Namespaces record{.pid = pid, .tid = tid, .links = WordArray(links)};
    return perfdata::Encode(record, {}, format_, 0, out_);
  }

  Status AddComm(std::uint32_t pid, std::uint32_t tid, std::string_view comm) {
    const perfdata::Comm record{.pid = pid, .tid = tid, .comm = comm.substr(0, kCommLength)};
    return perfdata::Encode(record, {}, format_, 0, out_);
  }

  Status AddThread(std::uint32_t pid, std::uint32_t tid) {
    std::optional<std::string_view> comm =
        proc_.Read(std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm");
    if (!comm) return {};
    if (comm->ends_with('\n')) comm->remove_suffix(1);
    TRY(AddFork({.pid = pid, .ppid = pid, .tid = tid, .ptid = pid}));
    TRY(AddNamespaces(pid, tid));
    return AddComm(pid, tid, *comm);
  }

  Status AddMappings(std::uint32_t pid, std::span<const std::uint32_t> other_threads) {
    const std::string directory = std::to_string(pid);
    std::optional<std::string_view> maps = proc_.Read(directory + "/maps");
    // A first thread that has ended no longer lists the mappings of its process.
    for (const std::uint32_t tid : other_threads) {
      if (!maps || !maps->empty()) break;
      maps = proc_.Read(directory + "/task/" + std::to_string(tid) + "/maps");
    }
    if (!maps) return {};
    lines_.clear();
    while (const std::optional<std::string_view> line = NextLine(*maps)) {
      if (const std::optional<MapsLine> mapping = ParseMapsLine(*line)) lines_.push_back(*mapping);
    }
    NameMovedText(lines_, [this](std::string_view name) {
      return perfdata::MayHoldMovedText(name,
                                        IsBelow(name, hugetlbfs_) ? perfdata::kMapHugeTlb : 0);
    });
    for (const MapsLine& mapping : lines_) {
      if (IsRecorded(mapping)) TRY(AddMapping(pid, mapping));
    }
    return {};
  }

  // As perf does (synthetic-events.c, perf_event__synthesize_mmap_events).
  bool IsRecorded(const MapsLine& mapping) const {
    if ((mapping.protection & PROT_EXEC) != 0) return true;
    return content_.data_mappings && (mapping.protection & PROT_READ) != 0;
  }

  Status AddMapping(std::uint32_t pid, const MapsLine& mapping) {
    std::string name = MappingName(mapping.name);
    std::uint32_t flags = mapping.flags;
    // Text on huge pages has no file with symbols. perf looks for such memory in
    // /tmp/perf-PID.map (synthetic-events.c, perf_event__synthesize_mmap_events).
    if (IsBelow(name, hugetlbfs_)) {
      name = perfdata::kAnonymousMappingName;
      flags |= perfdata::kMapHugeTlb;
    }
    const perfdata::Mmap2 record{.pid = pid,
                                 .tid = pid,
                                 .start = mapping.start,
                                 .length = mapping.end - mapping.start,
                                 .page_offset = mapping.page_offset,
                                 .device_major = mapping.device_major,
                                 .device_minor = mapping.device_minor,
                                 .inode = mapping.inode,
                                 .build_id = {},
                                 .protection = mapping.protection,
                                 .flags = flags,
                                 .filename = name};
    const bool is_code = (mapping.protection & PROT_EXEC) != 0;
    const std::uint16_t misc = is_code ? 0 : perfdata::kMiscMmapData;
    return perfdata::Encode(record, {}, format_, misc | MiscOf(perfdata::CpuMode::kUser), out_);
  }

  ProcReader& proc_;
  const perfdata::SampleFormat& format_;
  std::vector<std::byte>& out_;
  SnapshotContent content_;
  std::string hugetlbfs_;
  std::vector<MapsLine> lines_;  // scratch
};

Result<std::vector<std::uint32_t>> AllProcesses(const ProcReader& proc) {
  std::optional<std::vector<std::uint32_t>> pids = proc.Numbers(".");
  if (!pids) return FailErrno("list of processes", errno);
  return *std::move(pids);
}

}  // namespace

Status SnapshotAll(const std::filesystem::path& proc_root, const perfdata::SampleFormat& format,
                   std::vector<std::byte>& out, const SnapshotContent& content) {
  TRY_ASSIGN(const ProcReader proc, ProcReader::Open(proc_root));
  TRY_ASSIGN(const std::vector<std::uint32_t> pids, AllProcesses(proc));
  return SnapshotProcesses(proc_root, pids, format, out, content);
}

Status SnapshotProcesses(const std::filesystem::path& proc_root,
                         std::span<const std::uint32_t> pids, const perfdata::SampleFormat& format,
                         std::vector<std::byte>& out, const SnapshotContent& content) {
  TRY_ASSIGN(ProcReader proc, ProcReader::Open(proc_root));
  Snapshot snapshot(proc, format, out, content);
  for (const std::uint32_t pid : pids) TRY(snapshot.Add(pid));
  return {};
}

Result<std::vector<std::uint32_t>> Descendants(const std::filesystem::path& proc_root,
                                               std::uint32_t pid) {
  TRY_ASSIGN(ProcReader proc, ProcReader::Open(proc_root));
  TRY_ASSIGN(const std::vector<std::uint32_t> pids, AllProcesses(proc));
  std::unordered_multimap<std::uint32_t, std::uint32_t> children;
  for (const std::uint32_t candidate : pids) {
    const std::optional<std::string_view> text = proc.Read(std::to_string(candidate) + "/stat");
    if (!text) continue;
    const std::optional<TaskStat> stat = ParseTaskStat(*text);
    if (stat && stat->ppid != candidate) children.emplace(stat->ppid, candidate);
  }

  // Each child is removed when it is found. So the loop ends even if the tree changed while it was
  // read and now has a cycle.
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> parents = {pid};
  while (!parents.empty()) {
    const auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      if (child->second == pid) continue;
      found.push_back(child->second);
      parents.push_back(child->second);
    }
    children.erase(first, last);
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<std::uint32_t>> ThreadsOf(const std::filesystem::path& proc_root,
                                             std::span<const std::uint32_t> pids) {
  TRY_ASSIGN(const ProcReader proc, ProcReader::Open(proc_root));
  std::vector<std::uint32_t> threads;
  for (const std::uint32_t pid : pids) {
    const auto of_process = proc.Numbers(std::to_string(pid) + "/task");
    if (of_process) threads.insert(threads.end(), of_process->begin(), of_process->end());
  }
  return threads;
}

Result<std::uint32_t> ProcessOf(const std::filesystem::path& proc_root, std::uint32_t tid) {
  // /proc/TID exists for every thread, although /proc lists only processes.
  const std::string path = std::to_string(tid) + "/status";
  TRY_ASSIGN(ProcReader proc, ProcReader::Open(proc_root));
  std::optional<std::string_view> status = proc.Read(path);
  if (!status) return FailErrno("thread " + std::to_string(tid), errno);
  while (std::optional<std::string_view> line = NextLine(*status)) {
    if (NextField(*line, '\t') != "Tgid:") continue;
    if (const auto pid = ParseNumber(*line)) return static_cast<std::uint32_t>(*pid);
  }
  return Fail(ErrorCode::kCorrupt, path + ": no Tgid line");
}

}  // namespace perftape::record
