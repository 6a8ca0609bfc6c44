// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/listening_sockets.h"

#include <fmt/core.h>
#include <unistd.h>

namespace perftape::serve {

ListeningSockets::~ListeningSockets() {
  for (std::size_t i = 0; i < opened_; ++i) {
    if (addresses_[i].is_unix()) (void)unlink(addresses_[i].path.c_str());
  }
}

Result<std::vector<UniqueFd>> ListeningSockets::Open() {
  std::vector<UniqueFd> fds;
  for (; opened_ < addresses_.size(); ++opened_) {
    TRY_ASSIGN(UniqueFd fd, Listen(addresses_[opened_]));
    fds.push_back(std::move(fd));
  }
  return fds;
}

std::string AddressText(const ListenAddress& address) {
  if (address.is_unix()) return address.path;
  const bool is_ipv6 = address.host.contains(':');
  const std::string host = is_ipv6 ? "[" + address.host + "]" : address.host;
  return fmt::format("http://{}:{}", host, address.port);
}

}  // namespace perftape::serve
