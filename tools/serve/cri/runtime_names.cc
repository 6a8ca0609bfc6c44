// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/cri/runtime_names.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/channels/notice.h"
#include "tools/serve/cri/runtime_client.h"

namespace perftape::serve {
namespace {

constexpr std::chrono::seconds kPause{1};
constexpr std::size_t kMostUnknown = 16 * 1024;

}  // namespace

RuntimeNames::RuntimeNames(UniqueFd channel) : channel_(std::move(channel)) {
  if (!channel_) return;
  const int flags = fcntl(channel_.get(), F_GETFL);
  if (flags < 0 || fcntl(channel_.get(), F_SETFL, flags | O_NONBLOCK) != 0) channel_.Reset();
}

record::ContainerNames RuntimeNames::Find(const cgroup::ContainerPath& path) {
  record::ContainerNames names;
  const auto look_up = [&](const NodeNames::ById& known, const std::string& id) {
    if (id.empty()) return;
    if (const auto found = known.find(id); found != known.end()) {
      names.Complete(found->second);
    } else {
      Want(id);
    }
  };
  look_up(names_.containers, path.container_id);
  look_up(names_.pods, path.pod_uid);
  Ask();
  return names;
}

std::uint64_t RuntimeNames::Answers() {
  if (is_asking_) Receive();
  Ask();
  return answers_;
}

void RuntimeNames::Want(std::string_view id) {
  const auto asked = asks_.find(id);
  if (asked == asks_.end() || asked->second < kMostAsks) wanted_.emplace(id);
}

void RuntimeNames::Ask() {
  if (!channel_ || is_asking_ || wanted_.empty() || Clock::now() < next_ask_) return;
  const char ask = 0;
  if (send(channel_.get(), &ask, sizeof ask, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof ask)
    return channel_.Reset();
  is_asking_ = true;
  next_ask_ = Clock::now() + kPause;
  if (asks_.size() + wanted_.size() > kMostUnknown) asks_.clear();
  for (const std::string& id : std::exchange(wanted_, {})) ++asks_[id];
}

void RuntimeNames::Receive() {
  const std::optional<Notice> answer = ReceiveNotice(channel_.get());
  if (!answer) return;
  is_asking_ = false;
  ++answers_;
  if (!answer->file) return;  // the names stay
  if (const Result<std::string> lines = TextOf(*answer)) names_ = ParseNameLines(*lines);
}

int AnswerAsks(const std::string& socket, const UniqueFd& channel, bool sandboxed,
               cli::Console& console) {
  const auto fail = [&](const Error& error) {
    console.Error(error.message);
    return EXIT_FAILURE;
  };
  Result<RuntimeClient> client = RuntimeClient::Create(socket);
  if (!client) return fail(client.error());
  if (sandboxed) {
    if (const Status confined = sandbox::ConfineLocalClient(); !confined)
      return fail(confined.error());
  }
  bool has_warned = false;
  while (true) {
    char ask = 0;
    const ssize_t size = recv(channel.get(), &ask, sizeof ask, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return EXIT_SUCCESS;
    const Result<std::string> lines = client->AskForNames();
    if (!lines && !std::exchange(has_warned, true)) {
      console.Warning(socket +
                      ": no names of pods from the container runtime: " + lines.error().message);
    }
    if (lines && SendText(channel.get(), Notice::Kind::kNames, *lines)) continue;
    (void)SendNotice(channel.get(), {.kind = Notice::Kind::kNames});
  }
}

}  // namespace perftape::serve
