// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/file_request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "record/symbols/mapped_file.h"

namespace perftape::record {
namespace {

struct RequestHead {
  std::uint64_t device, inode;
  std::uint32_t pid, unused;
};

}  // namespace

UniqueFd OpenPathOnly(const FileRequest& request) {
  return UniqueFd(::open(request.path.c_str(), O_PATH | O_CLOEXEC));
}

OpenedFile Examine(const FileRequest& request, const UniqueFd& path_only) {
  OpenedFile file;
  struct stat status = {};
  if (!path_only || ::fstat(path_only.get(), &status) != 0) return file;
  file.user = status.st_uid;
  file.mode = status.st_mode;
  file.size = static_cast<std::uint64_t>(status.st_size);
  perfdata::Dso expected;
  expected.device = request.device;
  expected.inode = request.inode;
  if (!IsFileOf(expected, path_only.get())) {
    file.outcome = FileOutcome::kReplaced;
  } else {
    file.outcome = S_ISREG(status.st_mode) ? FileOutcome::kOpened : FileOutcome::kNotRegular;
  }
  return file;
}

std::vector<std::byte> EncodeRequest(const FileRequest& request) {
  const RequestHead head = {
      .device = request.device, .inode = request.inode, .pid = request.pid, .unused = 0};
  std::vector<std::byte> bytes(sizeof head + request.path.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, request.path.data(), request.path.size());
  return bytes;
}

std::optional<FileRequest> DecodeRequest(Bytes bytes) {
  RequestHead head = {};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  return FileRequest{.pid = head.pid,
                     .path = std::string(AsText(bytes.subspan(sizeof head))),
                     .device = head.device,
                     .inode = head.inode};
}

}  // namespace perftape::record
