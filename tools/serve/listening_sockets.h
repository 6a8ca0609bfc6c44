// SPDX-License-Identifier: Apache-2.0
// The sockets at which the service answers.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "tools/serve/access.h"

namespace perftape::serve {

// Removes the files of its unix sockets at its end.
class ListeningSockets {
 public:
  explicit ListeningSockets(std::vector<ListenAddress> wanted) : addresses_(std::move(wanted)) {}
  ListeningSockets(const ListeningSockets&) = delete;
  ListeningSockets& operator=(const ListeningSockets&) = delete;
  ~ListeningSockets();

  // Opens all, once. The addresses have the ports that were picked from then on. Fails as Listen.
  Result<std::vector<UniqueFd>> Open();

  const std::vector<ListenAddress>& addresses() const { return addresses_; }

 private:
  std::vector<ListenAddress> addresses_;
  std::size_t opened_ = 0;
};

// Returns "http://127.0.0.1:4040", or the path of a unix socket.
std::string AddressText(const ListenAddress& address);

}  // namespace perftape::serve
