// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/base/text.h"
#include "tools/common/cli/secret_file.h"

namespace perftape::serve {
namespace {

struct Scheme {
  std::string_view name;
  PushProtocol protocol;
  std::string_view url;  // its beginning for libcurl
};

constexpr Scheme kSchemes[] = {
    {"https", PushProtocol::kHttp, "https://"},
    {"http", PushProtocol::kHttp, "http://"},
    {"grpcs", PushProtocol::kGrpc, "https://"},
    {"grpc", PushProtocol::kGrpc, "http://"},
};

// OTLP 1.11, docs/specification.md, and its collector_service.proto of profiles.
constexpr std::string_view kHttpPath = "/v1development/profiles";
constexpr std::string_view kGrpcPath =
    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
constexpr std::string_view kGrpcPort = ":4317";

// Of Pyroscope (api/gen/proto/go/push/v1/pushv1connect, PusherServicePushProcedure).
constexpr std::string_view kPyroscope = "pyroscope=";
constexpr std::string_view kPyroscopePath = "/push.v1.PusherService/Push";

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

struct UrlParts {
  PushProtocol protocol = PushProtocol::kHttp;  // of OTLP
  std::string beginning = {};                   // "https://HOST:PORT"
  std::string path = {};                        // without '/' at its end
  bool has_port = false;
};

// `text` is the option's value, for messages.
Result<UrlParts> ParseUrl(std::string_view option, std::string_view text, std::string_view url) {
  const std::size_t end_of_scheme = url.find("://");
  const std::string_view name =
      end_of_scheme == url.npos ? kSchemes[0].name : url.substr(0, end_of_scheme);
  const auto* const scheme = std::ranges::find(kSchemes, name, &Scheme::name);
  if (scheme == std::end(kSchemes))
    return Wrong(option, text, "use https://, http://, grpcs:// or grpc://");
  const std::string_view rest = end_of_scheme == url.npos ? url : url.substr(end_of_scheme + 3);
  const std::size_t end_of_authority = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end_of_authority);
  std::string path(rest.substr(end_of_authority));
  if (authority.contains('@'))
    return Wrong(option, text, "other users can see passwords here: use --otlp-headers");
  if (!IsPlainText(url) || !IsAuthority(authority) || path.find_first_of("?#") != path.npos)
    return Wrong(option, text, "is not a URL: use https://HOST:PORT");
  while (path.ends_with('/')) path.pop_back();
  return UrlParts{.protocol = scheme->protocol,
                  .beginning = fmt::format("{}{}", scheme->url, authority),
                  .path = std::move(path),
                  .has_port = HasPort(authority)};
}

}  // namespace

Result<PushTarget> ParsePushTarget(std::string_view option, std::string_view text) {
  TRY_ASSIGN(const UrlParts parts, ParseUrl(option, text, text));
  PushTarget target = {
      .text = std::string(text), .url = parts.beginning, .protocol = parts.protocol};
  if (target.protocol == PushProtocol::kGrpc) {
    if (!parts.path.empty())
      return Wrong(option, text, "a gRPC URL has no path: use grpcs://HOST:PORT");
    if (!parts.has_port) target.url += kGrpcPort;
    target.url += kGrpcPath;
  } else {
    target.url += parts.path;
    if (!parts.path.ends_with("/profiles")) target.url += kHttpPath;
  }
  return target;
}

Result<PushTarget> ParseOtherTarget(std::string_view option, std::string_view text) {
  if (!text.starts_with(kPyroscope))
    return Wrong(option, text, "use pyroscope=https://HOST:PORT, or --otlp");
  const std::string_view url = text.substr(kPyroscope.size());
  TRY_ASSIGN(const UrlParts parts, ParseUrl(option, text, url));
  if (parts.protocol == PushProtocol::kGrpc)
    return Wrong(option, text, "use pyroscope=https:// or pyroscope=http://");
  PushTarget target = {.text = std::string(url),
                       .url = parts.beginning + parts.path,
                       .protocol = PushProtocol::kPyroscope};
  if (!target.url.ends_with(kPyroscopePath)) target.url += kPyroscopePath;
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
                  fmt::format("{}:{}: is not a header: use NAME: VALUE", name, number));
    }
    headers.push_back(fmt::format("{}: {}", key, Trimmed(line.substr(colon + 1))));
  }
  return headers;
}

Result<std::vector<std::string>> ReadHeaders(const std::string& path) {
  TRY_ASSIGN(const std::string text, cli::ReadSecretFile(path));
  return ParseHeaders(text, path);
}

Result<std::string> ReadCertificates(const std::string& path) {
  TRY_ASSIGN(std::string text, cli::ReadSmallFile(path));
  // RFC 7468. Some write "TRUSTED CERTIFICATE". Text around certificates is allowed.
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kIs = "CERTIFICATE-----";
  const auto count = [&](std::string_view prefix) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(prefix, at)) != text.npos; at += prefix.size()) {
      const std::string_view line = std::string_view(text).substr(at, text.find('\n', at) - at);
      if (Trimmed(line).ends_with(kIs)) ++found;
    }
    return found;
  };
  const std::size_t begins = count(kBegin);
  if (begins == 0 || begins != count(kEnd))
    return Fail(ErrorCode::kInvalidArgument, path + ": has no complete certificate in PEM");
  return text;
}

}  // namespace perftape::serve
