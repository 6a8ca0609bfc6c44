// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "formats/base/file.h"

namespace perftape::serve {

Status NotifyServiceManager(std::string_view state) {
  constexpr const char* kName = "NOTIFY_SOCKET";
  const char* const named = std::getenv(kName);  // NOLINT(concurrency-mt-unsafe): never set here
  if (named == nullptr) return {};
  const std::string_view path = named;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const bool is_path = path.starts_with('/') || path.starts_with('@');
  if (!is_path || path.size() >= sizeof address.sun_path)
    return Fail(ErrorCode::kInvalidArgument, "NOTIFY_SOCKET is not the path of a socket");
  std::memcpy(&address.sun_path[0], path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // an abstract name
  const UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  if (!fd || sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL, any, size) < 0)
    return FailErrno(kName, errno);
  return {};
}

}  // namespace perftape::serve
