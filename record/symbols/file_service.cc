// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/file_service.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "formats/base/regular_file.h"
#include "record/processes/process_context.h"
#include "record/symbols/local_files.h"

namespace perftape::record {
namespace {

constexpr std::size_t kLargestRequest = 2 * PATH_MAX + 64;
constexpr std::byte kStartWorker{'S'}, kEnd{'E'};

// Sends a message, with a descriptor if it is one.
bool Send(int channel, Bytes bytes, int fd) {
  iovec part = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(channel, &message, MSG_NOSIGNAL) >= 0;
}

// Receives a message of exactly `bytes`, which has come.
bool Receive(int channel, std::span<std::byte> bytes, UniqueFd& fd) {
  iovec part = {bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (size > 0 && header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(header), sizeof received);
    fd = UniqueFd(received);
  }
  return size == static_cast<ssize_t>(bytes.size());
}

// All that follows runs in the forked processes.

// Copies a file without its holes. Nothing if it cannot be read or copied.
UniqueFd CopyOf(int from, std::uint64_t size) {
  Result<UniqueFd> copy = CreateUnlinked();
  if (!copy || ftruncate(copy->get(), static_cast<off_t>(size)) != 0) return {};
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::uint64_t at = 0;
  while (at < size) {
    const ssize_t got =
        pread(from, buffer.data(), std::min<std::uint64_t>(buffer.size(), size - at),
              static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const Bytes bytes = Bytes(buffer).first(static_cast<std::size_t>(got));
    const bool is_hole = std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
    if (!is_hole && !WriteAllAt(copy->get(), bytes, at)) return {};
    at += static_cast<std::uint64_t>(got);
  }
  return at == 0 && size != 0 ? UniqueFd() : *std::move(copy);
}

void SendAnswer(int channel, FileAnswer& answer, const UniqueFd& file, std::uint64_t start_ns) {
  answer.took_ns = MonotonicNs() - start_ns;
  (void)Send(channel, std::as_bytes(std::span(&answer, 1)), file ? file.get() : -1);
}

// As a copy of a file.
void AnswerProcessContext(int channel, std::uint32_t pid, std::uint64_t start_ns) {
  FileAnswer answer = {.is_copy = true};
  UniqueFd sent;
  if (const auto context = ReadProcessContext("/proc", pid)) {
    Result<UniqueFd> copy = CreateUnlinked();
    if (copy && WriteAllAt(copy->get(), *context, 0) && fstat(copy->get(), &answer.status) == 0) {
      answer.outcome = FileOutcome::kOpened;
      sent = *std::move(copy);
    }
  }
  SendAnswer(channel, answer, sent, start_ns);
}

void Answer(int channel, const FileRequest& request, std::uint64_t largest_copy) {
  const std::uint64_t start_ns = MonotonicNs();
  if (request.is_process_context) return AnswerProcessContext(channel, request.pid, start_ns);
  UniqueFd sent = OpenPathOnly(request);
  const OpenedFile about = Examine(request, sent);
  FileAnswer answer = {.outcome = about.outcome, .status = about.status};
  if (answer.outcome == FileOutcome::kOpened && !IsLocalFileOf(request.pid, sent.get())) {
    if (about.size() > largest_copy) {
      answer.outcome = FileOutcome::kTooLarge;
    } else {
      const Result<UniqueFd> file = ReopenRegularFile(sent, request.path);
      sent = file ? CopyOf(file->get(), about.size()) : UniqueFd();
      answer.is_copy = true;
    }
  }
  if (answer.outcome == FileOutcome::kOpened && !sent) answer.outcome = FileOutcome::kUnreachable;
  if (answer.outcome != FileOutcome::kOpened) sent.Reset();
  SendAnswer(channel, answer, sent, start_ns);
}

[[noreturn]] void Work(int channel, const std::function<Status()>& confine,
                       std::uint64_t largest_copy) {
  if (confine && !confine()) _exit(1);
  std::vector<std::byte> buffer(kLargestRequest);
  while (true) {
    const ssize_t size = recv(channel, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) _exit(0);
    const auto request = DecodeRequest(Bytes(buffer).first(static_cast<std::size_t>(size)));
    if (request) Answer(channel, *request, largest_copy);
  }
}

// A worker that waits for a file system ends when that answers.
void EndWorker(pid_t& worker) {
  if (worker > 0 && waitpid(worker, nullptr, WNOHANG) == 0) (void)kill(worker, SIGKILL);
  worker = -1;
}

[[noreturn]] void Serve(int channel, const std::function<Status()>& confine,
                        std::uint64_t largest_copy) {
  (void)prctl(PR_SET_NAME, "perftape-files");
  pid_t worker = -1;
  while (true) {
    std::byte order = {};
    const ssize_t size = recv(channel, &order, 1, 0);
    if (size < 0 && errno == EINTR) continue;
    EndWorker(worker);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (size <= 0 || order == kEnd) _exit(0);
    int ends[2] = {};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) _exit(1);
    worker = fork();
    if (worker == 0) {
      close(channel);
      close(ends[0]);
      Work(ends[1], confine, largest_copy);
    }
    close(ends[1]);
    (void)Send(channel, Bytes(&order, 1), ends[0]);
    close(ends[0]);
  }
}

// The forked process keeps nothing of the recorder open: what it leaves behind must not. Its
// standard descriptors can be neither read nor written. An empty root directory has no /dev/null.
int OnlyDescriptor(int channel) {
  constexpr int kFirst = 3;
  const int root = open("/", O_PATH);
  for (int standard = 0; root >= 0 && standard < kFirst; ++standard) dup2(root, standard);
  if (channel != kFirst && dup2(channel, kFirst) < 0) _exit(1);
  (void)syscall(SYS_close_range, kFirst + 1, ~0U, 0);  // Linux 5.9
  (void)fcntl(kFirst, F_SETFD, FD_CLOEXEC);
  return kFirst;
}

}  // namespace

Result<FileService> FileService::Start(std::function<Status()> confine,
                                       std::uint64_t largest_copy) {
  int ends[2] = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return FailErrno("a channel to the process that opens files", errno);
  }
  FileService service;
  service.channel_ = UniqueFd(ends[0]);
  const UniqueFd other_end(ends[1]);
  service.pid_ = fork();
  if (service.pid_ < 0) return FailErrno("starting the process that opens files", errno);
  if (service.pid_ == 0) {
    for (const int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE}) {
      (void)std::signal(signal, SIG_IGN);
    }
    (void)std::signal(SIGCHLD, SIG_DFL);
    Serve(OnlyDescriptor(ends[1]), confine, largest_copy);
  }
  return service;
}

FileService::FileService(FileService&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      channel_(std::move(other.channel_)),
      worker_(std::move(other.worker_)),
      waited_ns_(other.waited_ns_) {}

FileService::~FileService() {
  worker_.Reset();
  if (pid_ <= 0) return;
  (void)Send(channel_.get(), Bytes(&kEnd, 1), -1);
  channel_.Reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Waited FileService::Wait(int channel, std::chrono::milliseconds timeout) {
  const Waited waited = WaitForAnswer(SystemClock(), channel, timeout);
  if (!waited.is_ready) waited_ns_ += waited.ns;
  return waited;
}

bool FileService::StartWorker(std::chrono::milliseconds timeout) {
  std::byte answer = {};
  return Send(channel_.get(), Bytes(&kStartWorker, 1), -1) &&
         Wait(channel_.get(), timeout).is_ready &&
         Receive(channel_.get(), std::span(&answer, 1), worker_) && worker_;
}

std::optional<OpenedFile> FileService::Ask(const FileRequest& request,
                                           std::chrono::milliseconds timeout) {
  if (!worker_ && !StartWorker(timeout)) return OpenedFile{};
  FileAnswer answer;
  UniqueFd file;
  if (!Send(worker_.get(), EncodeRequest(request), -1)) {
    worker_.Reset();
    return OpenedFile{};
  }
  const Waited waited = Wait(worker_.get(), timeout);
  if (!waited.is_ready) {
    worker_.Reset();
    return std::nullopt;
  }
  if (!Receive(worker_.get(), std::as_writable_bytes(std::span(&answer, 1)), file)) {
    worker_.Reset();
    return OpenedFile{};
  }
  waited_ns_ += std::min(answer.took_ns, waited.ns);
  OpenedFile opened = {
      .outcome = answer.outcome, .status = answer.status, .is_copy = answer.is_copy};
  if (answer.outcome != FileOutcome::kOpened) return opened;
  if (answer.is_copy) {
    opened.file = std::move(file);
    return opened;
  }
  Result<UniqueFd> local = ReopenRegularFile(file, request.path);
  if (local) {
    opened.file = *std::move(local);
  } else {
    opened.outcome = FileOutcome::kUnreachable;
  }
  return opened;
}

}  // namespace perftape::record
