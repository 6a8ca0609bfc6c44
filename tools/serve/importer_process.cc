// SPDX-License-Identifier: Apache-2.0
// The process that reads the recorder's files. It can read all files, because symbols are in them,
// and write only in the directory of the recordings.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "record/machine/clock.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/file_message.h"
#include "tools/serve/importer.h"
#include "tools/serve/processes.h"

namespace perftape::serve {
namespace {

// Returns false at the end of the channel.
bool Receive(int channel, FileMessage& message) {
  ssize_t size = 0;
  do {
    size = read(channel, &message, sizeof message - 1);
  } while (size < 0 && errno == EINTR);
  if (size <= static_cast<ssize_t>(kFileMessageHead)) return false;
  reinterpret_cast<char*>(&message)[size] = '\0';
  return true;
}

}  // namespace

int RunImporter(const ServeRun& run, const std::filesystem::path& directory, UniqueFd files,
                UniqueFd windows, cli::Console& console) {
  if (!run.no_sandbox) {
    const Status confined = sandbox::Confine({.readable = {"/"}, .writable = {directory}});
    if (!confined) {
      console.Error(confined.error().message);
      return EXIT_FAILURE;
    }
  }
  Importer importer;
  FileMessage message;
  std::uint64_t failed = 0;
  while (Receive(files.get(), message)) {
    const std::string path = &message.path[0];
    Result<ImportedWindow> window = importer.Import(path);
    if (!window) {
      ++failed;
      console.Warning(window.error().message);
      continue;
    }
    window->recorder_cpu_ns = message.recorder_cpu_ns;
    window->importer_cpu_ns = record::SystemClock().CpuNs();
    window->failed_windows = failed + message.failed_files;
    console.Detail(path + ": " + std::to_string(window->notes.samples) + " samples");
    if (const Status written = WriteWindow(windows.get(), *window); !written) {
      console.Error(written.error().message);
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}

}  // namespace perftape::serve
