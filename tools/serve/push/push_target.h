// SPDX-License-Identifier: Apache-2.0
// Where profiles are pushed to: a receiver of OTLP or Pyroscope, and how it is spoken to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::serve {

// The first two are of OTLP. Pyroscope's is Connect, by HTTP.
enum class PushProtocol : std::uint8_t { kHttp, kGrpc, kPyroscope };

struct PushTarget {
  std::string text = {};  // as the user wrote it
  std::string url = {};   // of each request, http:// or https://
  PushProtocol protocol = PushProtocol::kHttp;

  bool operator==(const PushTarget&) const = default;
};

// Everything about pushes that a user chooses.
struct PushOptions {
  PushTarget target = {};
  std::string headers_file = {};  // empty: none
  std::string ca_file = {};       // empty: the system's certificates
  std::uint64_t queue_bytes = std::uint64_t{16} << 20;

  bool is_on() const { return !target.url.empty(); }
  bool operator==(const PushOptions&) const = default;
};

// The headers and certificates in the files of PushOptions.
struct PushSecrets {
  std::vector<std::string> headers = {};  // "Name: value"
  std::string certificates = {};          // PEM; empty: the system's
};

// "https://HOST[:PORT][/PATH]", "http://…", "grpcs://HOST[:PORT]", "grpc://…"; without a scheme
// https. Appends the path of OTLP profiles to a path that does not end in it, and the usual port of
// gRPC. Fails with kInvalidArgument, also for a URL with a password: other users see it.
Result<PushTarget> ParsePushTarget(std::string_view option, std::string_view text);

// "pyroscope=https://HOST[:PORT][/PATH]", or "http://…". Appends the path of pushes. Fails as
// ParsePushTarget does.
Result<PushTarget> ParseOtherTarget(std::string_view option, std::string_view text);

// Reads a file of headers. Fails as ParseHeaders and ReadSecretFile do.
Result<std::vector<std::string>> ReadHeaders(const std::string& path);
// Reads certificates in PEM. Fails with kInvalidArgument for a file without one or with a part of
// one, and as ReadSmallFile does.
Result<std::string> ReadCertificates(const std::string& path);

// Returns the headers in the text of such a file: one on each line; '#' begins a comment. `name` is
// for messages. Fails with kInvalidArgument for a line that is no header.
Result<std::vector<std::string>> ParseHeaders(std::string_view text, std::string_view name);

}  // namespace perftape::serve
