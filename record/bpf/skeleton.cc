// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/skeleton.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

// libbpf's messages. libbpf has one print function for the whole program and passes it no context.
struct LogCapture {
  std::string* log = nullptr;  // for errors to quote
  const LibbpfLog* user = nullptr;
};
thread_local LogCapture current_log;

int AppendToLog(libbpf_print_level level, const char* format, va_list arguments) {
  if (current_log.log == nullptr) return 0;
  const bool has_user = current_log.user != nullptr && static_cast<bool>(*current_log.user);
  if (level > (has_user ? LIBBPF_DEBUG : LIBBPF_WARN)) return 0;
  // A message with the verifier's log is long, and its last lines have the reason.
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  std::string_view message = text;
  current_log.log->append(message);
  if (message.ends_with('\n')) message.remove_suffix(1);
  if (has_user) (*current_log.user)(message);
  return length;
}

// Returns the last lines of the log, which have the reason. The verifier's log before them is long.
std::string Tail(const std::string& log) {
  constexpr std::size_t kMost = 600;
  std::string_view tail = log;
  if (tail.size() > kMost) {
    tail.remove_prefix(tail.size() - kMost);
    tail.remove_prefix(std::min(tail.find('\n') + 1, tail.size()));
  }
  while (tail.ends_with('\n')) tail.remove_suffix(1);
  return std::string(tail);
}

}  // namespace

CapturedLog::CapturedLog(std::string& log, const LibbpfLog* user) {
  libbpf_set_print(AppendToLog);
  current_log = {.log = &log, .user = user};
}

CapturedLog::~CapturedLog() {
  current_log = {};
}

std::unexpected<Error> ExplainFailure(const char* what, int error_number, const std::string& log) {
  const SystemFacts facts = ReadSystemFacts();
  const std::vector<Finding> missing = CheckFacts(facts).missing;
  if (!missing.empty() && error_number != EMFILE) {
    return FailMissing(facts.has_btf ? ErrorCode::kPermission : ErrorCode::kUnsupported, what,
                       missing);
  }
  const bool is_refused = error_number == EPERM || error_number == EACCES;
  Error error{.code = is_refused ? ErrorCode::kPermission : ErrorCode::kUnsupported,
              .message = fmt::format("{}: {}", what, std::strerror(error_number)),
              .error_number = error_number};
  std::unexpected<Error> failure = FailBecause(std::move(error), LikelyCauses(facts, error_number));
  if (!log.empty()) failure.error().message += "\n" + Tail(log);
  return failure;
}

void DestroyLink::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

}  // namespace perftape::record
