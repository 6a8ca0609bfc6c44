// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/client/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/base/text.h"

namespace perftape::serve {
namespace {

struct GrpcHeader {
  std::string_view name;
  std::string HttpAnswer::*value;
};
constexpr GrpcHeader kGrpcHeaders[] = {{"grpc-status", &HttpAnswer::grpc_status},
                                       {"grpc-message", &HttpAnswer::grpc_message},
                                       {"grpc-status-details-bin", &HttpAnswer::grpc_details}};

std::size_t KeepGrpcHeader(const char* data, std::size_t, std::size_t size, void* to) {
  std::string_view line(data, size);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return size;
  for (const GrpcHeader& header : kGrpcHeaders) {
    if (colon == header.name.size() && curl_strnequal(data, header.name.data(), colon) != 0)
      static_cast<HttpAnswer*>(to)->*header.value = Trimmed(line.substr(colon + 1));
  }
  return size;
}

struct LimitedBody {
  HttpAnswer& answer;
  std::size_t limit = 0;
};

std::size_t AppendBody(const char* data, std::size_t, std::size_t size, void* to) {
  const auto& [answer, limit] = *static_cast<LimitedBody*>(to);
  answer.body.append(data, std::min(size, limit - answer.body.size()));
  return size;
}

}  // namespace

struct HttpClient::State {
  using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;
  using Multi = std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)>;
  using List = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

  Handle handle{curl_easy_init(), &curl_easy_cleanup};
  Multi multi{curl_multi_init(), &curl_multi_cleanup};
  List headers{nullptr, &curl_slist_free_all};
  char error[CURL_ERROR_SIZE] = {};
  std::vector<std::byte> body;
  HttpAnswer answer;
  LimitedBody limited_body{.answer = answer};
  bool is_busy = false;

  void AddHeader(const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers.get(), line.c_str());
    if (longer == nullptr) return;
    (void)headers.release();
    headers.reset(longer);
  }

  template <class Value>
  void Set(CURLoption option, Value value) {
    (void)curl_easy_setopt(handle.get(), option, value);
  }

  void SetUp(const HttpTarget& target) {
    const bool is_grpc = target.protocol == HttpProtocol::kGrpc;
    limited_body.limit = target.most_answer_bytes;
    Set(CURLOPT_URL, target.url.c_str());
    if (!target.unix_socket.empty()) Set(CURLOPT_UNIX_SOCKET_PATH, target.unix_socket.c_str());
    Set(CURLOPT_POST, 1L);
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_ERRORBUFFER, &error[0]);
    Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(target.connect_timeout.count()));
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::chrono::milliseconds(target.timeout).count()));
    Set(CURLOPT_HEADERFUNCTION, &KeepGrpcHeader);
    Set(CURLOPT_HEADERDATA, &answer);
    Set(CURLOPT_WRITEFUNCTION, &AppendBody);
    Set(CURLOPT_WRITEDATA, &limited_body);
    if (is_grpc && target.is_encrypted()) {
      Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    } else if (is_grpc) {
      Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
      // libcurl 7.88 fails with a second request on such a connection.
      Set(CURLOPT_FORBID_REUSE, 1L);
    }
    if (!target.certificates.empty()) {
      curl_blob certificates = {.data = const_cast<char*>(target.certificates.data()),
                                .len = target.certificates.size(),
                                .flags = CURL_BLOB_COPY};
      Set(CURLOPT_CAINFO_BLOB, &certificates);
    }
    if (is_grpc) {
      AddHeader("Content-Type: application/grpc+proto");
      AddHeader("te: trailers");
      AddHeader("grpc-timeout: " + std::to_string(target.timeout.count()) + "S");
    }
    AddHeader("User-Agent: perftape/" PERFTAPE_VERSION);
    AddHeader("Expect:");  // curl's own waits a second for receivers that do not know it
    for (const std::string& header : target.headers) AddHeader(header);
    Set(CURLOPT_HTTPHEADER, headers.get());
  }

  HttpAnswer Finish(CURLcode code) {
    curl_multi_remove_handle(multi.get(), handle.get());
    is_busy = false;
    if (code != CURLE_OK) {
      return {.problem = error[0] != '\0' ? &error[0] : curl_easy_strerror(code)};
    }
    long status = 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(handle.get(), CURLINFO_RETRY_AFTER, &retry_after);
    answer.status = static_cast<unsigned>(status);
    if (retry_after > 0) answer.retry_after = std::chrono::seconds(retry_after);
    return std::move(answer);
  }
};

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::Create(const HttpTarget& target) {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return Fail(ErrorCode::kUnsupported, "libcurl does not start");
  const curl_version_info_data* const about = curl_version_info(CURLVERSION_NOW);
  const auto has = [&](int feature) { return (about->features & feature) != 0; };
  if (target.is_encrypted() && !has(CURL_VERSION_SSL))
    return Fail(ErrorCode::kUnsupported, target.name + ": libcurl has no TLS here");
  if (target.protocol == HttpProtocol::kGrpc && !has(CURL_VERSION_HTTP2))
    return Fail(ErrorCode::kUnsupported, target.name + ": libcurl has no HTTP/2 here");
  auto state = std::make_unique<State>();
  if (!state->handle || !state->multi)
    return Fail(ErrorCode::kUnsupported, "libcurl does not start");
  state->SetUp(target);
  return HttpClient(std::move(state));
}

bool HttpClient::is_busy() const {
  return state_->is_busy;
}

void HttpClient::Start(std::vector<std::byte> body) {
  State& state = *state_;
  state.body = std::move(body);
  state.answer = {};
  state.error[0] = '\0';
  state.Set(CURLOPT_POSTFIELDS, state.body.data());
  state.Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(state.body.size()));
  curl_multi_add_handle(state.multi.get(), state.handle.get());
  state.is_busy = true;
}

std::optional<HttpAnswer> HttpClient::Wait(int fd, std::chrono::milliseconds time) {
  State& state = *state_;
  int running = 0, waiting = 0;
  curl_multi_perform(state.multi.get(), &running);
  if (running == 0 && state.is_busy) time = {};
  curl_waitfd other = {.fd = fd, .events = CURL_WAIT_POLLIN, .revents = 0};
  curl_multi_poll(state.multi.get(), &other, fd >= 0 ? 1 : 0, static_cast<int>(time.count()),
                  nullptr);
  while (const CURLMsg* const message = curl_multi_info_read(state.multi.get(), &waiting)) {
    if (message->msg == CURLMSG_DONE) return state.Finish(message->data.result);
  }
  return std::nullopt;
}

}  // namespace perftape::serve
