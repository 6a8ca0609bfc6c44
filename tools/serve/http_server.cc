// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/http_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>  // before Boost.Asio 1.74, which lacks it

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http.hpp>

namespace perftape::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::generic::stream_protocol;
using boost::system::error_code;
using Stream = beast::basic_stream<stream_protocol>;

constexpr unsigned kHttpOne = 11;  // 1.1
constexpr std::chrono::seconds kLastAnswers{1};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kWatchInterval{250};

HttpResponse ErrorResponse(unsigned status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

// The bytes of body and file.
std::uint64_t SizeOf(const HttpResponse& response) {
  const off_t of_file = response.file ? lseek(response.file.get(), 0, SEEK_END) : 0;
  return response.body.size() + static_cast<std::uint64_t>(std::max<off_t>(of_file, 0));
}

// Whether the other end has closed the connection, maybe after bytes that nobody has read.
bool HasEnded(int socket) {
  pollfd state = {.fd = socket, .events = POLLRDHUP, .revents = 0};
  return poll(&state, 1, 0) > 0;
}

// Whether all characters may be in the name or the port of a host (RFC 3986, section 3.2.2).
bool IsHost(beast::string_view text) {
  constexpr std::string_view kOthers = "-._~%!$&'()*+,;=:[]";
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.contains(c);
  });
}

// What RFC 9112 calls invalid and the parser accepts. Two readers of such a request may find
// different ends of it, or different hosts.
std::optional<HttpResponse> RefusalOf(const http::request<http::string_body>& request) {
  const auto hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= kHttpOne))
    return ErrorResponse(400, "exactly one Host header is needed");
  if (!IsHost(request[http::field::host]))
    return ErrorResponse(400, "the Host header is not a valid host");
  const auto encodings = request.count(http::field::transfer_encoding);
  if (encodings == 0) return std::nullopt;
  if (request.count(http::field::content_length) != 0)
    return ErrorResponse(400, "Transfer-Encoding and Content-Length cannot be combined");
  if (request.version() < kHttpOne) return ErrorResponse(400, "Transfer-Encoding needs HTTP/1.1");
  if (encodings > 1 || !beast::iequals(request[http::field::transfer_encoding], "chunked"))
    return ErrorResponse(501, "of transfer codings, only chunked is supported");
  return std::nullopt;
}

// What all connections share.
struct Shared {
  asio::io_context& io;
  HttpHandler& handler;
  const HttpLimits& limits;
  HttpCounts& counts;
  std::atomic<std::uint64_t> unread_bytes = 0;
};

// Bytes of answers that are in memory.
class UnreadBytes {
 public:
  UnreadBytes(Shared& shared, std::uint64_t bytes)
      : shared_(shared), bytes_(bytes), others_(shared_.unread_bytes.fetch_add(bytes)) {}
  UnreadBytes(const UnreadBytes&) = delete;
  UnreadBytes& operator=(const UnreadBytes&) = delete;
  ~UnreadBytes() { shared_.unread_bytes -= bytes_; }

  // Those of others, when this began.
  std::uint64_t others() const { return others_; }

 private:
  Shared& shared_;
  std::uint64_t bytes_, others_;
};

class Connection : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  Connection(stream_protocol::socket socket, std::size_t listener, Shared& shared)
      : shared_(shared), listener_(listener), stream_(std::move(socket)) {
    ++shared_.counts.connections;
  }
  ~Connection() override { --shared_.counts.connections; }

  void Start() { ReadRequest(); }
  void Refuse() { Send(ErrorResponse(503, "too many connections")); }

  void Reply(HttpResponse response) override {
    auto held = std::make_shared<UnreadBytes>(shared_, SizeOf(response));
    if (held->others() > shared_.limits.unread_bytes) {
      response = ErrorResponse(503, "too many unread answers");
      held.reset();
    }
    auto shared_response = std::make_shared<HttpResponse>(std::move(response));
    asio::post(shared_.io, [self = shared_from_this(), shared_response, held] {
      self->held_ = held;
      self->Send(std::move(*shared_response));
    });
  }
  bool IsOpen() const override { return is_open_; }
  void OnGone(std::function<void()> act) override { on_gone_ = std::move(act); }

 private:
  void ReadRequest() {
    parser_.emplace();
    parser_->body_limit(shared_.limits.body_bytes);
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    stream_.expires_after(shared_.limits.request_time);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->OnRequest(error); });
  }

  void OnRequest(error_code error) {
    keep_alive_ = false;
    if (error == http::error::header_limit)
      return Send(ErrorResponse(431, "the header is too long"));
    if (error == http::error::body_limit) return Send(ErrorResponse(413, "the body is too long"));
    if (error.category() == http::make_error_code(http::error::bad_target).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return Send(ErrorResponse(400, error.message()));
    }
    if (error) return Close();
    const auto& request = parser_->get();
    is_head_ = request.method() == http::verb::head;
    if (std::optional<HttpResponse> refusal = RefusalOf(request)) return Send(*std::move(refusal));
    if (!is_head_ && request.method() != http::verb::get && request.method() != http::verb::post)
      return Send({.status = 405,
                   .body = "GET, HEAD or POST\n",
                   .headers = {{"Allow", "GET, HEAD, POST"}}});
    keep_alive_ = request.keep_alive();
    ++shared_.counts.requests;
    stream_.expires_never();
    is_handled_ = true;
    WatchForEnd();
    const auto text = [](boost::beast::string_view view) { return std::string(view); };
    shared_.handler.Handle({.method = text(request.method_string()),
                            .target = text(request.target()),
                            .host = text(request[http::field::host]),
                            .authorization = text(request[http::field::authorization]),
                            .accept = text(request[http::field::accept]),
                            .origin = text(request[http::field::origin]),
                            .fetch_site = text(request["Sec-Fetch-Site"]),
                            .listener = listener_},
                           shared_from_this());
  }

  // While the handler works, the client may go.
  void WatchForEnd() {
    stream_.socket().async_wait(
        stream_protocol::socket::wait_read, [self = shared_from_this()](error_code error) {
          if (error || !self->is_handled_) return;
          HasEnded(self->stream_.socket().native_handle()) ? self->Close() : self->WatchLater();
        });
  }

  // Bytes have come that nobody reads now, such as the body of the request.
  void WatchLater() {
    watch_.expires_after(kWatchInterval);
    watch_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->is_handled_) self->WatchForEnd();
    });
  }

  void Send(HttpResponse response) {
    error_code ignored;
    is_handled_ = false;
    on_gone_ = {};
    watch_.cancel(ignored);
    stream_.socket().cancel(ignored);  // the watch
    if (!stream_.socket().is_open()) return;
    response_ = std::move(response);
    sent_ = 0;
    left_ = SizeOf(response_);
    message_.emplace();
    message_->version(kHttpOne);
    message_->result(response_.status);
    message_->set(http::field::server, "perftape-serve");
    message_->set(http::field::content_type, response_.content_type);
    message_->set(http::field::cache_control, "no-store");
    message_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response_.headers) message_->set(name, value);
    message_->content_length(left_);
    message_->keep_alive(keep_alive_);
    serializer_.emplace(*message_);
    if (!is_head_) return SendPart();
    stream_.expires_after(shared_.limits.write_time);
    http::async_write_header(stream_, *serializer_,
                             [self = shared_from_this()](error_code error, std::size_t) {
                               error ? self->Close() : self->OnSent();
                             });
  }

  // Sends the header and the next bytes.
  void SendPart() {
    auto& body = message_->body();
    if (!FillPart()) return Close();
    body.data = part_bytes_ == 0 ? nullptr : part_;
    body.size = part_bytes_;
    left_ -= part_bytes_;
    sent_ += part_bytes_;
    body.more = left_ != 0;
    stream_.expires_after(shared_.limits.write_time);
    http::async_write(stream_, *serializer_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (error == http::error::need_buffer) error = {};
                        if (error) return self->Close();
                        self->serializer_->is_done() ? self->OnSent() : self->SendPart();
                      });
  }

  // Returns false if the file cannot be read.
  bool FillPart() {
    const std::size_t of_body =
        response_.body.size() - std::min<std::uint64_t>(sent_, response_.body.size());
    if (of_body != 0 || !response_.file) {
      part_ = response_.body.data() + (response_.body.size() - of_body);
      part_bytes_ = std::min(of_body, kIoSize);
      return true;
    }
    file_part_.resize(kIoSize);
    const auto offset = static_cast<off_t>(sent_ - response_.body.size());
    const ssize_t size = pread(response_.file.get(), file_part_.data(), file_part_.size(), offset);
    if (size < 0 || (size == 0 && left_ != 0)) return false;
    part_ = file_part_.data();
    part_bytes_ =
        static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(size), left_));
    return true;
  }

  void OnSent() {
    response_ = {};
    held_.reset();
    if (!keep_alive_) return Close();
    parser_->is_done() ? ReadRequest() : SkipBody();
  }

  // Nobody needs the body of a request, but the next one begins after it.
  void SkipBody() {
    stream_.expires_after(shared_.limits.request_time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       error ? self->Close() : self->ReadRequest();
                     });
  }

  void Close() {
    is_open_ = false;
    is_handled_ = false;
    held_.reset();
    if (const auto act = std::exchange(on_gone_, {})) act();
    error_code ignored;
    watch_.cancel(ignored);
    stream_.socket().shutdown(stream_protocol::socket::shutdown_send, ignored);
    stream_.close();
  }

  Shared& shared_;
  std::size_t listener_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool is_head_ = false, keep_alive_ = false;
  std::atomic<bool> is_open_ = true;
  bool is_handled_ = false;  // the handler has the request, and the answer is missing
  std::function<void()> on_gone_;
  asio::steady_timer watch_{shared_.io};

  HttpResponse response_;
  std::shared_ptr<UnreadBytes> held_;
  std::optional<http::response<http::buffer_body>> message_;
  std::optional<http::response_serializer<http::buffer_body>> serializer_;
  std::uint64_t sent_ = 0, left_ = 0;  // bytes of body and file
  char* part_ = nullptr;
  std::size_t part_bytes_ = 0;
  std::vector<char> file_part_;
};

}  // namespace

struct HttpServer::State {
  // An open socket. While it pauses, connections wait in the kernel.
  struct Listener {
    asio::posix::stream_descriptor socket;
    asio::steady_timer pause;
  };

  State(HttpHandler& handler, std::function<void(std::string)> to_warn, const HttpLimits& given)
      : warn(std::move(to_warn)),
        limits(given),
        shared{.io = io, .handler = handler, .limits = limits, .counts = counts} {}

  void WaitForConnection(std::size_t listener) {
    listeners[listener]->socket.async_wait(
        asio::posix::stream_descriptor::wait_read, [this, listener](error_code error) {
          if (error) return;
          AcceptAll(listener) ? WaitForConnection(listener) : Pause(listener);
        });
  }

  // A connection that cannot be accepted stays: waiting for one would end at once.
  void Pause(std::size_t listener) {
    asio::steady_timer& pause = listeners[listener]->pause;
    pause.expires_after(kAcceptPause);
    pause.async_wait([this, listener](error_code error) {
      if (!error) WaitForConnection(listener);
    });
  }

  // Returns false if there is a connection that cannot be accepted now.
  bool AcceptAll(std::size_t listener) {
    while (true) {
      const int fd = accept4(listeners[listener]->socket.native_handle(), nullptr, nullptr,
                             SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0 && errno != EAGAIN) {
        ReportFailure(errno);
        return false;
      }
      if (fd < 0) return true;
      stream_protocol::socket socket(io);
      error_code error;
      socket.assign(stream_protocol(AF_UNSPEC, 0), fd, error);
      if (error) {
        close(fd);
        continue;
      }
      const bool is_full = counts.connections >= limits.connections;
      const auto connection = std::make_shared<Connection>(std::move(socket), listener, shared);
      if (is_full) ++counts.refused;
      is_full ? connection->Refuse() : connection->Start();
    }
  }

  // As long as descriptors are scarce, every other attempt may fail.
  void ReportFailure(int error_number) {
    if (counts.accept_failures++ == 0)
      warn(std::string("connections are waiting, because none can be accepted: ") +
           std::strerror(error_number));
  }

  std::function<void(std::string)> warn;
  HttpLimits limits;
  HttpCounts counts;
  Shared shared;  // outlives connections in handlers that `io` destroys
  asio::io_context io;
  asio::steady_timer last_answers{io};
  std::vector<std::unique_ptr<Listener>> listeners;
};

HttpServer::HttpServer(std::vector<UniqueFd> sockets, HttpHandler& handler,
                       std::function<void(std::string)> warn, const HttpLimits& limits)
    : state_(std::make_unique<State>(handler, std::move(warn), limits)) {
  for (UniqueFd& socket : sockets) {
    state_->listeners.push_back(std::make_unique<State::Listener>(
        asio::posix::stream_descriptor(state_->io, socket.Release()),
        asio::steady_timer(state_->io)));
  }
}

HttpServer::~HttpServer() = default;

void HttpServer::Run() {
  for (std::size_t i = 0; i < state_->listeners.size(); ++i) state_->WaitForConnection(i);
  const auto work = asio::make_work_guard(state_->io);
  state_->io.run();
}

void HttpServer::Stop() {
  asio::post(state_->io, [state = state_.get()] {
    state->listeners.clear();
    state->last_answers.expires_after(kLastAnswers);
    state->last_answers.async_wait([state](error_code) { state->io.stop(); });
  });
}

const HttpCounts& HttpServer::counts() const {
  return state_->counts;
}

}  // namespace perftape::serve
