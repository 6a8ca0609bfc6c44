// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/text.h"
#include "tools/common/cli/secret_file.h"

namespace perftape::serve {
namespace {

struct Scheme {
  std::string_view name;
  HttpProtocol protocol;
  std::string_view url;  // its beginning for libcurl
};

constexpr Scheme kSchemes[] = {
    {"https", HttpProtocol::kHttp, "https://"},
    {"http", HttpProtocol::kHttp, "http://"},
    {"grpcs", HttpProtocol::kGrpc, "https://"},
    {"grpc", HttpProtocol::kGrpc, "http://"},
};

// OTLP 1.11, docs/specification.md, and its collector_service.proto of profiles.
constexpr std::string_view kHttpPath = "/v1development/profiles";
constexpr std::string_view kGrpcPath =
    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
constexpr std::string_view kGrpcPort = ":4317";

std::unexpected<Error> Wrong(std::string_view option, std::string_view text, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{} {}: {}", option, text, why));
}

bool IsPlainText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

// Whether this is "HOST", "HOST:PORT" or "[ADDRESS]:PORT".
bool IsAuthority(std::string_view text) {
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == text.npos) return false;
  const std::size_t colon = text.find(':', bracket);
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || host == "[]") return false;
  if (colon == text.npos) return true;
  const std::string_view port = text.substr(colon + 1);
  return !port.empty() && port.size() <= 5 &&
         std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

bool HasPort(std::string_view authority) {
  return authority.find(':', authority.starts_with('[') ? authority.find(']') : 0) !=
         authority.npos;
}

}  // namespace

Result<PushTarget> ParsePushTarget(std::string_view option, std::string_view text) {
  const std::size_t end_of_scheme = text.find("://");
  const std::string_view name =
      end_of_scheme == text.npos ? kSchemes[0].name : text.substr(0, end_of_scheme);
  const auto* const scheme = std::ranges::find(kSchemes, name, &Scheme::name);
  if (scheme == std::end(kSchemes))
    return Wrong(option, text, "use https://, http://, grpcs:// or grpc://");
  const std::string_view rest = end_of_scheme == text.npos ? text : text.substr(end_of_scheme + 3);
  const std::size_t end_of_authority = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end_of_authority);
  std::string path(rest.substr(end_of_authority));
  if (authority.contains('@'))
    return Wrong(option, text, "other users see passwords here: use --otlp-headers");
  if (!IsPlainText(text) || !IsAuthority(authority) || path.find_first_of("?#") != path.npos)
    return Wrong(option, text, "is no URL: use https://HOST:PORT");
  while (path.ends_with('/')) path.pop_back();
  PushTarget target = {.text = std::string(text), .url = {}, .protocol = scheme->protocol};
  target.url = fmt::format("{}{}", scheme->url, authority);
  if (target.protocol == HttpProtocol::kGrpc) {
    if (!path.empty()) return Wrong(option, text, "gRPC has no path: use grpcs://HOST:PORT");
    if (!HasPort(authority)) target.url += kGrpcPort;
    target.url += kGrpcPath;
  } else {
    target.url += path;
    if (!path.ends_with("/profiles")) target.url += kHttpPath;
  }
  return target;
}

Result<std::vector<std::string>> ParseHeaders(std::string_view text, std::string_view name) {
  // RFC 9110, 5.6.2
  constexpr std::string_view kTokenSigns = "!#$%&'*+-.^_`|~";
  const auto is_token = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kTokenSigns.contains(c);
  };
  std::vector<std::string> headers;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(':');
    const std::string_view key = line.substr(0, colon);
    const bool is_header =
        colon != line.npos && !key.empty() && std::ranges::all_of(key, is_token) &&
        std::ranges::all_of(line, [](char c) { return c == '\t' || (c >= ' ' && c != '\x7f'); });
    // The line may be a secret.
    if (!is_header) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}:{}: is no header: use NAME: VALUE", name, number));
    }
    headers.push_back(fmt::format("{}: {}", key, Trimmed(line.substr(colon + 1))));
  }
  return headers;
}

Result<PushSecrets> ReadPushSecrets(const PushOptions& options) {
  PushSecrets secrets;
  if (!options.headers_file.empty()) {
    TRY_ASSIGN(const std::string text, cli::ReadSecretFile(options.headers_file));
    TRY_ASSIGN(secrets.headers, ParseHeaders(text, options.headers_file));
  }
  if (!options.ca_file.empty()) {
    TRY_ASSIGN(secrets.certificates, ReadWholeFile(options.ca_file));
  }
  return secrets;
}

}  // namespace perftape::serve
