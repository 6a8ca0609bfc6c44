// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/access.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "formats/base/text.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/secret_file.h"

namespace perftape::serve {
namespace {

constexpr std::string_view kLocalhost = "localhost";
constexpr int kBacklog = 128;

std::unexpected<Error> BadAddress(std::string_view option, std::string_view text,
                                  std::string_view reason) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}': {}: use the path of a unix socket, or HOST:PORT such as "
                          "127.0.0.1:4040",
                          option, cli::EscapeForTerminal(text), reason));
}

std::optional<in_addr> IPv4Of(const std::string& host) {
  in_addr address = {};
  if (inet_pton(AF_INET, host == kLocalhost ? "127.0.0.1" : host.c_str(), &address) != 1)
    return std::nullopt;
  return address;
}

std::optional<in6_addr> IPv6Of(const std::string& host) {
  in6_addr address = {};
  if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return std::nullopt;
  return address;
}

std::optional<std::uint16_t> PortOf(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return port;
}

// "[::1]:4040" is "::1" and "4040"; without a port, the port is empty.
std::pair<std::string_view, std::string_view> HostAndPort(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return {};
    const std::string_view rest = text.substr(bracket + 1);
    if (!rest.empty() && !rest.starts_with(':')) return {};
    return {text.substr(1, bracket - 1), rest.substr(std::min<std::size_t>(rest.size(), 1))};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<UniqueFd> OpenSocket(int family, const std::string& name) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return FailErrno(name, errno);
  return fd;
}

Status Bind(int fd, const sockaddr* address, socklen_t size, const std::string& name) {
  if (bind(fd, address, size) != 0 || listen(fd, kBacklog) != 0) return FailErrno(name, errno);
  return {};
}

// Removes the socket of a server that has ended.
void RemoveDeadSocket(const sockaddr_un& address, socklen_t size) {
  struct stat status = {};
  if (lstat(&address.sun_path[0], &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  if (probe && connect(probe.get(), any, size) != 0 && errno == ECONNREFUSED) {
    (void)unlink(&address.sun_path[0]);
  }
}

// Only the own user and group can connect.
Result<UniqueFd> ListenOnPath(const ListenAddress& address) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(&name.sun_path[0], address.path.data(), address.path.size());
  RemoveDeadSocket(name, sizeof name);
  TRY_ASSIGN(UniqueFd fd, OpenSocket(AF_UNIX, address.text));
  const mode_t mask = umask(S_IXUSR | S_IXGRP | S_IRWXO);
  Status bound =
      Bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name, address.text);
  umask(mask);
  TRY(std::move(bound));
  return fd;
}

template <class Name>
Result<UniqueFd> ListenOnPort(Name name, int family, const std::string& text) {
  TRY_ASSIGN(UniqueFd fd, OpenSocket(family, text));
  const int on = 1;
  (void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  TRY(Bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name, text));
  return fd;
}

}  // namespace

bool ListenAddress::is_local() const {
  if (is_unix()) return true;
  if (const auto address = IPv4Of(host)) return (ntohl(address->s_addr) >> 24) == 127;
  const auto address = IPv6Of(host);
  return address && IN6_IS_ADDR_LOOPBACK(&*address);
}

Result<ListenAddress> ParseListenAddress(std::string_view option, std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  ListenAddress address = {.text = std::string(text)};
  if (text.starts_with('/') || text.starts_with(kUnix)) {
    address.path = text.starts_with(kUnix) ? text.substr(kUnix.size()) : text;
    if (!address.path.starts_with('/'))
      return BadAddress(option, text, "the path does not begin with /");
    if (address.path.size() >= sizeof(sockaddr_un::sun_path))
      return BadAddress(option, text, "the path is too long for a socket");
    return address;
  }
  const auto [host, port] = HostAndPort(text);
  const auto number = PortOf(port);
  if (host.empty() || !number) return BadAddress(option, text, "not an address");
  address.host = host;
  address.port = *number;
  if (!IPv4Of(address.host) && !IPv6Of(address.host))
    return BadAddress(option, text, "the host is not a numeric address");
  return address;
}

Result<UniqueFd> Listen(ListenAddress& address) {
  if (address.is_unix()) return ListenOnPath(address);
  UniqueFd fd;
  if (const auto ip = IPv4Of(address.host)) {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    name.sin_addr = *ip;
    TRY_ASSIGN(fd, ListenOnPort(name, AF_INET, address.text));
  } else {
    sockaddr_in6 name = {};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(address.port);
    name.sin6_addr = *IPv6Of(address.host);
    TRY_ASSIGN(fd, ListenOnPort(name, AF_INET6, address.text));
  }
  sockaddr_in6 bound = {};  // the port is where that of sockaddr_in is
  socklen_t size = sizeof bound;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0)
    address.port = ntohs(bound.sin6_port);
  return fd;
}

bool IsOwnHost(std::string_view host, const ListenAddress& address) {
  if (address.is_unix() || !address.is_local()) return true;
  const auto [name, port] = HostAndPort(host);
  if (!port.empty() && !PortOf(port)) return false;
  return name == kLocalhost || name == "127.0.0.1" || name == "::1" || name == address.host;
}

// Browsers leave out the port that the scheme implies in both headers.
bool IsOfAnotherSite(const RequestSource& source) {
  const std::string_view site = source.fetch_site;
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  if (source.origin.empty()) return false;
  constexpr std::string_view kSchemeEnd = "://";
  const std::size_t end = source.origin.find(kSchemeEnd);
  return end == source.origin.npos || source.origin.substr(end + kSchemeEnd.size()) != source.host;
}

bool HasToken(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (token.empty() || !authorization.starts_with(kScheme)) return false;
  const std::string_view given = authorization.substr(kScheme.size());
  // Compares as many characters as are given, whatever the token is.
  volatile unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char one = given[i], other = token[i % token.size()];
    difference = difference | static_cast<unsigned char>(one ^ other);
  }
  return difference == 0;
}

Result<std::string> ReadToken(const std::string& path) {
  constexpr std::size_t kLeast = 16, kMost = 1024;
  TRY_ASSIGN(const std::string text, cli::ReadSecretFile(path));
  const std::string_view token = Trimmed(std::string_view(text).substr(0, text.find('\n')));
  const bool is_printable =
      std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; });
  const bool is_only_line = text.find('\n') == text.npos || text.find('\n') + 1 == text.size();
  if (!is_printable || !is_only_line || token.size() < kLeast || token.size() > kMost) {
    return Fail(ErrorCode::kInvalidArgument,
                path + ": the token must be one line of 16 or more printable characters");
  }
  return std::string(token);
}

}  // namespace perftape::serve
