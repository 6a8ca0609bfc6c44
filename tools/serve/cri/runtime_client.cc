// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/cri/runtime_client.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/cri/runtime_lists.h"
#include "tools/serve/client/grpc.h"
#include "tools/serve/cri/name_lines.h"

namespace perftape::serve {
namespace {

// The limit of the kubelet, too (maxMsgSize, cri-client).
constexpr std::size_t kLargestList = std::size_t{16} << 20;

HttpTarget TargetOf(const std::string& socket, std::string_view method) {
  return {.name = socket,
          .url = "http://localhost/runtime.v1.RuntimeService/" + std::string(method),
          .unix_socket = socket,
          .protocol = HttpProtocol::kGrpc,
          .connect_timeout = std::chrono::seconds(1),
          .timeout = std::chrono::seconds(2),
          .most_answer_bytes = kLargestList + 16};
}

// Returns the message that answers an empty request, which asks for all.
Result<std::string> Call(HttpClient& client) {
  client.Start(GrpcBodyOf({}, GrpcEncoding::kNone));
  std::optional<HttpAnswer> answer;
  while (!answer) answer = client.Wait(-1, std::chrono::seconds(1));
  if (answer->status == 0) return Fail(ErrorCode::kIo, std::move(answer->problem));
  const std::optional<GrpcStatus> status = GrpcStatusOf(*answer);
  if (!status) return Fail(ErrorCode::kCorrupt, "the answer has no gRPC status");
  if (*status != GrpcStatus::kOk) return Fail(ErrorCode::kIo, GrpcProblem(*status, *answer));
  const std::optional<std::string_view> message = GrpcMessageIn(answer->body);
  if (!message) return Fail(ErrorCode::kCorrupt, "the answer is incomplete, or larger than 16 MiB");
  return std::string(*message);
}

}  // namespace

Result<RuntimeClient> RuntimeClient::Create(const std::string& socket) {
  TRY_ASSIGN(HttpClient pods, HttpClient::Create(TargetOf(socket, "ListPodSandbox")));
  TRY_ASSIGN(HttpClient containers, HttpClient::Create(TargetOf(socket, "ListContainers")));
  return RuntimeClient(std::move(pods), std::move(containers));
}

Result<std::string> RuntimeClient::AskForNames() {
  TRY_ASSIGN(const std::string pods, Call(pods_));
  TRY_ASSIGN(const std::string containers, Call(containers_));
  TRY_ASSIGN(const std::vector<cri::PodSandbox> sandboxes, cri::DecodePodSandboxes(AsBytes(pods)));
  TRY_ASSIGN(const std::vector<cri::Container> in_them, cri::DecodeContainers(AsBytes(containers)));
  return NameLines(sandboxes, in_them);
}

}  // namespace perftape::serve
