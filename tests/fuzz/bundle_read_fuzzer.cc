// SPDX-License-Identifier: Apache-2.0
// Reads an archive of any bytes: it is opened or refused with a message, its contents can be read,
// and extracting it changes nothing beside the target.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include "formats/bundle/bundle.h"
#include "formats/bundle/clean.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/extract.h"

namespace perftape::bundle {
namespace {

namespace fs = std::filesystem;

// A directory of this process, in memory if there is a memory file system.
class Playground {
 public:
  static const fs::path& Path() {
    static const Playground playground;
    return playground.path_;
  }
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;

 private:
  Playground() {
    const bool has_memory = access("/dev/shm", W_OK) == 0;
    std::string name = std::string(has_memory ? "/dev/shm" : "/tmp") + "/perftape-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    setenv("TMPDIR", name.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): before any thread
    path_ = name;
  }
  ~Playground() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path path_;
};

void Check(bool holds) {
  if (!holds) std::abort();
}

void ExtractBesideACanary(const Bundle& bundle) {
  const fs::path target = Playground::Path() / "target";
  fs::remove_all(target);
  (void)Extract(bundle, target);
  (void)Extract(bundle, target, {.if_exists = IfExists::kReplace});
  Check(Clean(target).has_value());
  for (const auto& entry : fs::directory_iterator(Playground::Path())) {
    Check(entry.path() == target);
  }
}

void AskFor(const Bundle& bundle) {
  for (const UnpackedMember& member : bundle.members()) {
    if (!member.is_link()) Check(bundle.Find(member.name)->size() == member.size);
  }
  for (const BundledFile& file : bundle.manifest().files) {
    (void)bundle.Find(file.build_id, file.kind);
  }
  const auto again = DecodeManifest(EncodeManifest(bundle.manifest()));
  Check(again.has_value() && *again == bundle.manifest());
}

}  // namespace
}  // namespace perftape::bundle

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  using namespace perftape::bundle;
  (void)Playground::Path();
  const Bytes bytes = std::as_bytes(std::span(data, size));
  (void)FindEmbedded(bytes);
  (void)DecodeManifest(AsText(bytes));
  const UnpackLimits limits = {.total = 1 << 20, .always = 1 << 20, .members = 1000};
  const auto bundle = Bundle::FromBytes(bytes, limits);
  if (!bundle) return 0;
  AskFor(*bundle);
  ExtractBesideACanary(*bundle);
  return 0;
}
