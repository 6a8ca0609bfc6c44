// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "convert/bundle_check/bundle_check.h"
#include "formats/base/counted.h"
#include "formats/base/text.h"
#include "formats/bundle/content_hash.h"
#include "formats/bundle/layout.h"
#include "formats/bundle/marker.h"
#include "formats/bundle/recording_notes.h"
#include "formats/elf/build_id.h"
#include "formats/kallsyms/kallsyms.h"

namespace perftape::bundle_check {
namespace {

using bundle::BundledFile;
using bundle::FileKind;

bool IsElf(FileKind kind) {
  return kind == FileKind::kElf || kind == FileKind::kDebug || kind == FileKind::kVdso;
}

class Check {
 public:
  explicit Check(const bundle::Bundle& bundle) : bundle_(bundle) {
    for (const bundle::UnpackedMember& member : bundle.members()) {
      if (member.is_link()) links_.emplace(member.name, member.target);
    }
  }

  std::vector<std::string> Run() && {
    if (std::string text = TextOf(bundle_.passed_over()); !text.empty()) {
      findings_.push_back("members were skipped: " + std::move(text));
    }
    for (const BundledFile& file : bundle_.manifest().files) CheckFile(file);
    CheckForOthers();
    return std::move(findings_);
  }

 private:
  template <class... Values>
  void Report(const BundledFile& file, fmt::format_string<Values...> format, Values&&... values) {
    const std::string& name = file.member.empty() ? file.path : file.member;
    findings_.push_back(name + ": " + fmt::format(format, std::forward<Values>(values)...));
  }

  void CheckFile(const BundledFile& file) {
    if (file.kept == bundle::Kept::kNothing) {
      if (file.missing.empty()) Report(file, "nothing is kept, and no reason is given");
      return;
    }
    known_.insert(file.member);
    const std::optional<Bytes> bytes = bundle_.Find(file.member);
    if (!bytes) return Report(file, "is in the manifest but not in the bundle");
    CheckPlace(file);
    if (IsElf(file.kind)) CheckElf(file, *bytes);
    CheckContent(file, *bytes);
    if (file.kind == FileKind::kKallsyms) CheckKallsyms(file, *bytes);
  }

  // The path of a member contains the type and the build id of the file.
  void CheckPlace(const BundledFile& file) {
    const BuildId& id = file.build_id;
    if (id.empty()) return;
    const auto at = bundle::FileAt(file.member);
    if (!at)
      return;  // perf does not look there, as with a short build id: only the manifest describes
               // it.
    if (!at->build_id.Matches(id))
      return Report(file, "is in the directory of a build id that is not {}", id.hex());
    const bundle::BuildIdLink link = bundle::LinkTo(file.member, id);
    const auto found = links_.find(link.name);
    // perf before 4.7 linked to the file itself. A build id has only one link, and a binary's debug
    // file may have another path than the binary.
    const bool is_linked = found != links_.end() && (found->second == link.target ||
                                                     found->second == "../../" + file.member ||
                                                     found->second.ends_with("/" + id.hex()));
    if (!is_linked) Report(file, "the link {} is missing", link.name);
  }

  // Only whole files still have the content that was hashed.
  void CheckContent(const BundledFile& file, Bytes bytes) {
    if (file.content.empty() || file.kept != bundle::Kept::kWhole) return;
    const std::string content = bundle::ContentHash(bytes);
    if (content != file.content) {
      Report(file, "has the SHA-256 {}, the manifest has {}", content, file.content);
    }
  }

  void CheckElf(const BundledFile& file, Bytes bytes) {
    const auto id = elf::BuildIdOf(bytes);
    if (!id) return Report(file, "{}", id.error().message);
    if (*id == file.build_id || id->Matches(file.build_id)) return;
    Report(file, "has build id {}, the manifest has {}", id->empty() ? "none" : id->hex(),
           file.build_id.empty() ? "none" : file.build_id.hex());
  }

  void CheckKallsyms(const BundledFile& file, Bytes bytes) {
    const auto symbols = kallsyms::Kallsyms::Parse(std::string(AsText(bytes)));
    if (!symbols) Report(file, "{}", symbols.error().message);
  }

  // Markers are ignored, because extract writes its own. A perf archive has no manifest, but may
  // have any other file of the cache.
  void CheckForOthers() {
    if (!bundle_.Find(bundle::kManifestName)) return;
    known_.insert(bundle::kManifestName);
    known_.insert(bundle::kNotesName);
    for (const bundle::UnpackedMember& member : bundle_.members()) {
      if (member.is_link() || known_.contains(member.name) || bundle::IsMarker(member.name)) {
        continue;
      }
      findings_.push_back(member.name + ": is in the bundle but not in the manifest");
    }
  }

  const bundle::Bundle& bundle_;
  std::map<std::string_view, std::string_view> links_;
  std::set<std::string_view> known_;  // members that the manifest lists
  std::vector<std::string> findings_;
};

}  // namespace

std::string TextOf(const bundle::PassedOver& passed_over) {
  std::vector<std::string> texts;
  const auto add = [&](std::uint64_t count, std::string_view noun, std::string_view rest) {
    if (count != 0) texts.push_back(Counted(count, noun) + std::string(rest));
  };
  add(passed_over.unsafe_names, "member", " with a path outside of the directory");
  add(passed_over.kinds, "member", " neither regular file nor symbolic link");
  add(passed_over.duplicates, "member", " with a repeated name");
  return Joined(texts, ", ");
}

std::vector<std::string> FindContradictions(const bundle::Bundle& bundle) {
  return Check(bundle).Run();
}

}  // namespace perftape::bundle_check
