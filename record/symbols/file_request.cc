// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/file_request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "formats/base/file.h"
#include "record/symbols/mapped_file.h"

namespace perftape::record {
namespace {

struct RequestHead {
  std::uint64_t device, inode;
  std::uint32_t pid, root_size;
};

}  // namespace

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
                            .root_size = static_cast<std::uint32_t>(request.root.size())};
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
                     .inode = head.inode};
}

}  // namespace perftape::record
