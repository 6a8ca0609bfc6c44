// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pprof_check.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace perftape::pprof {
namespace {

std::unexpected<Error> Wrong(std::string_view table, std::size_t index, std::string_view what) {
  return Fail(ErrorCode::kCorrupt,
              std::string(table) + " " + std::to_string(index) + ": " + std::string(what));
}

// The ids of a table. Most tables are numbered from 1, which needs no search.
class IdSet {
 public:
  // Returns kCorrupt if an id is 0 or occurs twice.
  template <class Message>
  static Result<IdSet> Of(std::string_view table, const std::vector<Message>& messages) {
    IdSet set;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].id == 0) return Wrong(table, i, "id 0");
      set.ids_.push_back(messages[i].id);
    }
    std::ranges::sort(set.ids_);
    if (const auto twin = std::ranges::adjacent_find(set.ids_); twin != set.ids_.end()) {
      return Fail(ErrorCode::kCorrupt,
                  std::string(table) + " id " + std::to_string(*twin) + " is used twice");
    }
    return set;
  }

  bool Has(std::uint64_t id) const {
    const bool is_dense = !ids_.empty() && ids_.back() == ids_.size();
    if (is_dense) return id != 0 && id <= ids_.size();
    return std::ranges::binary_search(ids_, id);
  }

 private:
  std::vector<std::uint64_t> ids_;
};

class Checker {
 public:
  explicit Checker(const Profile& profile) : profile_(profile) {}

  Status Check() const {
    if (profile_.string_table.empty() || !profile_.string_table[0].empty()) {
      return Fail(ErrorCode::kCorrupt, "the string table does not begin with the empty string");
    }
    TRY(CheckHeader());
    TRY_ASSIGN(const IdSet mappings, IdSet::Of("mapping", profile_.mappings));
    TRY_ASSIGN(const IdSet functions, IdSet::Of("function", profile_.functions));
    TRY_ASSIGN(const IdSet locations, IdSet::Of("location", profile_.locations));
    TRY(CheckTexts());
    TRY(CheckLocations(mappings, functions));
    return CheckSamples(locations);
  }

 private:
  bool AreTexts(std::initializer_list<StringIndex> texts) const {
    const auto count = static_cast<StringIndex>(profile_.string_table.size());
    return std::ranges::all_of(texts, [&](StringIndex i) { return 0 <= i && i < count; });
  }

  Status CheckHeader() const {
    const Header& header = profile_.header;
    bool are_texts = AreTexts({header.drop_frames, header.keep_frames, header.default_sample_type,
                               header.doc_url}) &&
                     std::ranges::all_of(header.comments,
                                         [&](StringIndex comment) { return AreTexts({comment}); });
    for (const ValueType& type : header.sample_types) are_texts &= AreTexts({type.type, type.unit});
    if (header.period_type) {
      are_texts &= AreTexts({header.period_type->type, header.period_type->unit});
    }
    if (!are_texts) return Fail(ErrorCode::kCorrupt, "header: string out of range");
    if (header.sample_types.empty() && !profile_.samples.empty()) {
      return Fail(ErrorCode::kCorrupt, "there are samples but no sample types");
    }
    return {};
  }

  Status CheckTexts() const {
    for (std::size_t i = 0; i < profile_.mappings.size(); ++i) {
      const Mapping& mapping = profile_.mappings[i];
      if (!AreTexts({mapping.filename, mapping.build_id})) {
        return Wrong("mapping", i, "string out of range");
      }
    }
    for (std::size_t i = 0; i < profile_.functions.size(); ++i) {
      const Function& function = profile_.functions[i];
      if (!AreTexts({function.name, function.system_name, function.filename})) {
        return Wrong("function", i, "string out of range");
      }
    }
    return {};
  }

  Status CheckLocations(const IdSet& mappings, const IdSet& functions) const {
    for (std::size_t i = 0; i < profile_.locations.size(); ++i) {
      const Location& location = profile_.locations[i];
      if (location.mapping_id != 0 && !mappings.Has(location.mapping_id)) {
        return Wrong("location", i, "no such mapping");
      }
      for (const Line& line : location.lines) {
        if (!functions.Has(line.function_id)) return Wrong("location", i, "no such function");
      }
    }
    return {};
  }

  Status CheckSamples(const IdSet& locations) const {
    for (std::size_t i = 0; i < profile_.samples.size(); ++i) {
      const Sample& sample = profile_.samples[i];
      if (sample.values.size() != profile_.header.sample_types.size()) {
        return Wrong("sample", i, "not one value for each sample type");
      }
      for (const std::uint64_t id : sample.location_ids) {
        if (!locations.Has(id)) return Wrong("sample", i, "no such location");
      }
      for (const Label& label : sample.labels) {
        if (!AreTexts({label.key, label.str, label.num_unit})) {
          return Wrong("sample", i, "label's string out of range");
        }
      }
    }
    return {};
  }

  const Profile& profile_;
};

}  // namespace

Status CheckValid(const Profile& profile) {
  return Checker(profile).Check();
}

}  // namespace perftape::pprof
