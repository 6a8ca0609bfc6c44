// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/file_request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "formats/base/file.h"
#include "formats/base/file_number.h"

namespace perftape::record {
namespace {

// Both are in linux/magic.h, but not in all releases.
constexpr std::uint64_t kBtrfsMagic = 0x9123683e;
constexpr std::uint64_t kOverlayMagic = 0x794c7630;

// Returns true on btrfs and overlayfs: there stat(2) reports another device than the mapping has,
// but the same inode.
bool TellsOtherDevices(int fd) {
  struct statfs system = {};
  if (::fstatfs(fd, &system) != 0) return false;
  const auto type = static_cast<std::uint64_t>(system.f_type);
  return type == kBtrfsMagic || type == kOverlayMagic;
}

struct RequestHead {
  std::uint64_t device, inode;
  std::uint32_t pid, root_size;
  std::uint64_t is_process_context;
};

}  // namespace

bool IsFileOf(const perfdata::Dso& dso, int fd) {
  if (dso.inode == 0) return true;
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || status.st_ino != dso.inode) return false;
  return NumberOf(status).device == dso.device || TellsOtherDevices(fd);
}

std::string MapFileName(const perfdata::Region& region) {
  std::array<char, 40> name = {};
  std::snprintf(name.data(), name.size(), "%llx-%llx",
                static_cast<unsigned long long>(region.start),
                static_cast<unsigned long long>(region.end));
  return name.data();
}

UniqueFd OpenPathOnly(const FileRequest& request) {
  if (!request.root.empty()) return OpenPathWithin(request.root, request.path);
  return UniqueFd(::open(request.path.c_str(), O_PATH | O_CLOEXEC));
}

OpenedFile Examine(const FileRequest& request, const UniqueFd& path_only) {
  OpenedFile file;
  if (!path_only || ::fstat(path_only.get(), &file.status) != 0) return file;
  perfdata::Dso expected;
  expected.device = request.device;
  expected.inode = request.inode;
  if (!IsFileOf(expected, path_only.get())) {
    file.outcome = FileOutcome::kReplaced;
  } else {
    file.outcome = S_ISREG(file.status.st_mode) ? FileOutcome::kOpened : FileOutcome::kNotRegular;
  }
  return file;
}

std::vector<std::byte> EncodeRequest(const FileRequest& request) {
  const RequestHead head = {.device = request.device,
                            .inode = request.inode,
                            .pid = request.pid,
                            .root_size = static_cast<std::uint32_t>(request.root.size()),
                            .is_process_context = request.is_process_context};
  const std::string names = request.root + request.path;
  std::vector<std::byte> bytes(sizeof head + names.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, names.data(), names.size());
  return bytes;
}

std::optional<FileRequest> DecodeRequest(Bytes bytes) {
  RequestHead head = {};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::string_view names = AsText(bytes.subspan(sizeof head));
  if (head.root_size > names.size()) return std::nullopt;
  return FileRequest{.pid = head.pid,
                     .path = std::string(names.substr(head.root_size)),
                     .root = std::string(names.substr(0, head.root_size)),
                     .device = head.device,
                     .inode = head.inode,
                     .is_process_context = head.is_process_context != 0};
}

}  // namespace perftape::record
