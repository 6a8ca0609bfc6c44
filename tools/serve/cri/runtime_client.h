// SPDX-License-Identifier: Apache-2.0
// Asks a container runtime of Kubernetes for its pods and containers: CRI, gRPC over a unix socket.
#pragma once

#include <string>

#include "formats/base/result.h"
#include "tools/serve/client/http_client.h"

namespace perftape::serve {

class RuntimeClient {
 public:
  // `socket` is the path, such as /run/containerd/containerd.sock. Fails as HttpClient::Create.
  static Result<RuntimeClient> Create(const std::string& socket);

  // Waits for the answer, two seconds for each of two lists, and returns its lines (name_lines.h).
  // Fails with kIo if there is none, and with kCorrupt if it is no answer of CRI.
  Result<std::string> AskForNames();

 private:
  RuntimeClient(HttpClient pods, HttpClient containers)
      : pods_(std::move(pods)), containers_(std::move(containers)) {}

  HttpClient pods_, containers_;
};

}  // namespace perftape::serve
