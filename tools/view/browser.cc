// SPDX-License-Identifier: Apache-2.0
#include "tools/view/browser.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace perftape::view_tool {
namespace {

bool IsPlain(char letter) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/";
  return kPlain.find(letter) != kPlain.npos;
}

bool IsSet(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string AddressOf(const std::filesystem::path& absolute_path) {
  std::string address = "file://";
  for (const char letter : absolute_path.native()) {
    if (IsPlain(letter)) {
      address += letter;
    } else {
      address += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return address;
}

bool HasDesktop() {
  return IsSet("DISPLAY") || IsSet("WAYLAND_DISPLAY");
}

bool OpenInBrowser(const std::string& address) {
  std::string program = "xdg-open", argument = address;
  char* const words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Browsers print messages of their own.
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, words[0], &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0;
}

}  // namespace perftape::view_tool
