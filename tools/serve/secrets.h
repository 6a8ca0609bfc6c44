// SPDX-License-Identifier: Apache-2.0
// The secrets of the service, which are in files that change: the token of requests, the headers of
// pushes, and the certificates that pushes trust.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/serve/channels/notice.h"
#include "tools/serve/push/push_target.h"

namespace perftape::serve {

struct Secrets {
  std::string token = {};  // empty: none is needed
  PushSecrets push = {};
};

// The files; empty: there is none.
struct SecretFiles {
  std::string token = {}, headers = {}, certificates = {};
};

// Fails as ReadToken, ReadHeaders and ReadCertificates do.
Result<Secrets> ReadSecrets(const SecretFiles& files);

// What is done about a file that was read again.
struct SecretActions {
  // Another text than before, for the process that uses it.
  std::function<void(Notice::Kind, std::string_view text)> send;
  // The file cannot be used, so its secret stays.
  std::function<void(const Error&)> warn;
};

// Reads the files again, each by itself.
void ReadAgain(const SecretFiles& files, Secrets& secrets, const SecretActions& actions);

}  // namespace perftape::serve
