// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/secrets.h"

#include <utility>

#include "formats/base/text.h"
#include "tools/serve/access.h"

namespace perftape::serve {
namespace {

std::string TextOf(const std::string& secret) {
  return secret;
}

std::string TextOf(const std::vector<std::string>& headers) {
  return Joined(headers, "\n");
}

template <class Secret>
void Replace(const std::string& file, Result<Secret> (*read)(const std::string& path),
             Notice::Kind kind, Secret& secret, const SecretActions& actions) {
  if (file.empty()) return;
  Result<Secret> now = read(file);
  if (!now) return actions.warn(now.error());
  if (*now == secret) return;
  secret = *std::move(now);
  actions.send(kind, TextOf(secret));
}

}  // namespace

Result<Secrets> ReadSecrets(const SecretFiles& files) {
  Secrets secrets;
  if (!files.token.empty()) {
    TRY_ASSIGN(secrets.token, ReadToken(files.token));
  }
  if (!files.headers.empty()) {
    TRY_ASSIGN(secrets.push.headers, ReadHeaders(files.headers));
  }
  if (!files.certificates.empty()) {
    TRY_ASSIGN(secrets.push.certificates, ReadCertificates(files.certificates));
  }
  return secrets;
}

void ReadAgain(const SecretFiles& files, Secrets& secrets, const SecretActions& actions) {
  Replace(files.token, &ReadToken, Notice::Kind::kToken, secrets.token, actions);
  Replace(files.headers, &ReadHeaders, Notice::Kind::kHeaders, secrets.push.headers, actions);
  Replace(files.certificates, &ReadCertificates, Notice::Kind::kCertificates,
          secrets.push.certificates, actions);
}

}  // namespace perftape::serve
