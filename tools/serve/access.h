// SPDX-License-Identifier: Apache-2.0
// Who may use the server: its addresses, the names that it has, and its token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::serve {

struct ListenAddress {
  std::string text = {};  // as the user wrote it
  std::string path = {};  // of a unix socket; empty for TCP
  std::string host = {};  // a number, or "localhost"
  std::uint16_t port = 0;

  bool is_unix() const { return !path.empty(); }
  // Whether only this machine can connect.
  bool is_local() const;
};

// "/run/x.sock", "unix:/run/x.sock", "127.0.0.1:4040", "[::1]:4040" or "localhost:4040". Port 0 is
// any free one. Fails with kInvalidArgument.
Result<ListenAddress> ParseListenAddress(std::string_view option, std::string_view text);

// Opens a socket that accepts connections without blocking. An old socket file without a server is
// replaced. Sets the port that the kernel chose.
Result<UniqueFd> Listen(ListenAddress& address);

// Returns whether a request with this Host header is for a server at `address`. A page of another
// site whose name leads here (DNS rebinding) has its own name there. The port may be that of a
// forwarded connection. A unix socket has no name, and an address that others can reach may have
// any; there the token decides.
bool IsOwnHost(std::string_view host, const ListenAddress& address);

// Returns whether a browser sends a request for a page of another site: by its header
// Sec-Fetch-Site, or by Origin, which is not that of `host`. Other programs send neither.
struct RequestSource {
  std::string_view host = {}, origin = {}, fetch_site = {};
};
bool IsOfAnotherSite(const RequestSource& source);

// Returns whether a header "Authorization: Bearer TOKEN" has the token. The time depends on
// neither.
bool HasToken(std::string_view authorization, std::string_view token);

// Reads the token: the only line of the file, of at least 16 characters. Fails with
// kInvalidArgument for other content and for a file that other users can read.
Result<std::string> ReadToken(const std::string& path);

}  // namespace perftape::serve
