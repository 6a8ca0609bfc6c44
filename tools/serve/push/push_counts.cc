// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_counts.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "formats/base/file.h"

namespace perftape::serve {

std::string_view NameOf(PushDrop drop) {
  switch (drop) {
    case PushDrop::kQueueFull:
      return "queue_full";
    case PushDrop::kRefused:
      return "refused";
    case PushDrop::kNoProcess:
      return "no_process";
    case PushDrop::kEnd:
      return "end";
    case PushDrop::kKilled:
      return "killed";
  }
  return "";
}

void PushCounts::CountKilled() {
  std::uint64_t done = samples;
  // Those of kNoProcess were not handed to it.
  for (const PushDrop cause :
       {PushDrop::kQueueFull, PushDrop::kRefused, PushDrop::kEnd, PushDrop::kKilled})
    done += dropped(cause);
  const std::uint64_t handed = handed_samples;
  dropped(PushDrop::kKilled) += handed - std::min(handed, done);
  queue_bytes = 0;
}

Result<PushCounts*> MakePushCounts() {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  void* const memory =
      mmap(nullptr, sizeof(PushCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return FailErrno("shared counts", errno);
  return new (memory) PushCounts;
}

}  // namespace perftape::serve
