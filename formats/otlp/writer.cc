// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/writer.h"

#include <array>
#include <deque>
#include <utility>

#include "formats/base/utf8.h"
#include "formats/otlp/json_fields.h"
#include "formats/otlp/layout.h"
#include "formats/protobuf/field_writer.h"

namespace perftape::otlp {
namespace {

using protobuf::AppendFields;

constexpr std::size_t kTraceIdSize = 16;
constexpr std::size_t kSpanIdSize = 8;
constexpr std::array<char, kTraceIdSize> kZeros = {};

// Appends a member of a JSON object; `value` is its JSON.
void AppendMember(std::string& out, const Field& field, std::string_view value) {
  if (!out.empty() && out.back() != '{') out += ',';
  AppendJson(out, field.json_name);
  out += ':';
  out += value;
}

std::string InBrackets(std::string_view items) {
  return '[' + std::string(items) + ']';
}

// Replaces texts of messages that are not UTF-8. The new ones live as long as this object.
class ValidTexts {
 public:
  void Fix(std::vector<KeyValue>& attributes) {
    for (KeyValue& attribute : attributes) {
      Fix(attribute.key);
      if (attribute.value) Fix(*attribute.value);
    }
  }
  void Fix(AnyValue& value) {
    if (value.text) Fix(*value.text);
    if (value.pairs) Fix(value.pairs->values);
    if (!value.array) return;
    for (AnyValue& item : value.array->values) Fix(item);
  }
  void Fix(std::string_view& text) {
    if (!IsUtf8(text)) text = kept_.emplace_back(ToValidUtf8(text));
  }

 private:
  std::deque<std::string> kept_;
};

template <class Message>
std::string EncodeJson(const Message& message) {
  std::string json;
  AppendJson(json, message);
  return json;
}

}  // namespace

Writer::Writer(Encoding encoding) : encoding_(encoding) {
  Text("");
  Add(Mapping{});
  Add(Location{});
  Add(Function{});
  // The ids of "no link" are zeros, not missing.
  const std::string_view zeros(kZeros.data(), kZeros.size());
  Add(Link{.trace_id = {zeros}, .span_id = {zeros.substr(0, kSpanIdSize)}});
  Add(KeyValueAndUnit{});
  Add(Stack{});
}

Index Writer::Text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::string valid = ToValidUtf8(text);
  const auto [entry, is_new] = texts_.emplace(valid, static_cast<Index>(texts_.size()));
  if (is_new) AddText(valid);
  return entry->second;
}

void Writer::AddText(std::string_view text) {
  std::string& encoded = strings_.encoded;
  if (is_json()) {
    if (!encoded.empty()) encoded += ',';
    AppendJson(encoded, text);
  } else {
    AppendFields(encoded, [&](auto& fields) { fields.Text(kStringTable, text); });
  }
}

template <class Entry>
Index Writer::AddTo(Table& table, const Entry& entry) {
  if (is_json()) {
    if (!table.encoded.empty()) table.encoded += ',';
    AppendJson(table.encoded, entry);
  } else {
    AppendFields(table.encoded, [&](auto& fields) { fields.Nested(kTable<Entry>, entry); });
  }
  return table.count++;
}

Index Writer::Add(const Mapping& mapping) {
  return AddTo(mappings_, mapping);
}
Index Writer::Add(const Location& location) {
  return AddTo(locations_, location);
}
Index Writer::Add(const Function& function) {
  return AddTo(functions_, function);
}
Index Writer::Add(const Link& link) {
  return AddTo(links_, link);
}
Index Writer::Add(KeyValueAndUnit attribute) {
  ValidTexts texts;
  if (attribute.value) texts.Fix(*attribute.value);
  return AddTo(attributes_, attribute);
}
Index Writer::Add(const Stack& stack) {
  return AddTo(stacks_, stack);
}

void Writer::BeginResource(Resource resource, Scope scope) {
  EndResource();
  ValidTexts texts;
  texts.Fix(resource.attributes);
  texts.Fix(scope.attributes);
  has_resource_ = true;
  resource_.clear();
  scope_.clear();
  if (is_json()) {
    resource_ = EncodeJson(resource);
    scope_ = EncodeJson(scope);
  } else {
    AppendFields(resource_, [&](auto& fields) { fields.Nested(kResource, resource); });
    AppendFields(scope_, [&](auto& fields) { fields.Nested(kScope, scope); });
  }
}

void Writer::BeginProfile(const ProfileHeader& header) {
  EndProfile();
  has_profile_ = true;
  if (is_json()) {
    profile_ = EncodeJson(header);
    profile_.pop_back();  // the brace
  } else {
    AppendFields(profile_, [&](auto& fields) { Layout(fields, header); });
  }
}

void Writer::Add(const Sample& sample) {
  if (!is_json()) {
    AppendFields(profile_, [&](auto& fields) { fields.Nested(kSamples, sample); });
    return;
  }
  if (has_sample_) {
    profile_ += ',';
  } else {
    AppendMember(profile_, kSamples, "[");
  }
  has_sample_ = true;
  AppendJson(profile_, sample);
}

void Writer::EndProfile() {
  if (!has_profile_) return;
  if (is_json()) {
    if (!profiles_.empty()) profiles_ += ',';
    profiles_ += profile_;
    profiles_ += has_sample_ ? "]}" : "}";
  } else {
    AppendFields(profiles_, [&](auto& fields) { fields.Text(kProfiles, profile_); });
  }
  profile_.clear();
  has_profile_ = false;
  has_sample_ = false;
}

void Writer::EndResource() {
  EndProfile();
  if (!has_resource_) return;
  if (is_json()) {
    if (!resources_.empty()) resources_ += ',';
    resources_ += '{';
    AppendMember(resources_, kResource, resource_);
    AppendMember(resources_, kScopeProfiles, "[{");
    AppendMember(resources_, kScope, scope_);
    AppendMember(resources_, kProfiles, InBrackets(profiles_));
    resources_ += "}]}";
  } else {
    const std::string in_scope = scope_ + profiles_;
    AppendFields(resource_, [&](auto& fields) { fields.Text(kScopeProfiles, in_scope); });
    AppendFields(resources_, [&](auto& fields) { fields.Text(kResourceProfiles, resource_); });
  }
  profiles_.clear();
  has_resource_ = false;
}

std::string Writer::Finish() && {
  EndResource();
  if (is_json()) {
    std::string dictionary = "{";
    AppendMember(dictionary, kTable<Mapping>, InBrackets(mappings_.encoded));
    AppendMember(dictionary, kTable<Location>, InBrackets(locations_.encoded));
    AppendMember(dictionary, kTable<Function>, InBrackets(functions_.encoded));
    AppendMember(dictionary, kTable<Link>, InBrackets(links_.encoded));
    AppendMember(dictionary, kStringTable, InBrackets(strings_.encoded));
    AppendMember(dictionary, kTable<KeyValueAndUnit>, InBrackets(attributes_.encoded));
    AppendMember(dictionary, kTable<Stack>, InBrackets(stacks_.encoded));
    dictionary += '}';
    std::string file = "{";
    AppendMember(file, kResourceProfiles, InBrackets(resources_));
    AppendMember(file, kDictionary, dictionary);
    return file + "}\n";
  }
  std::string tables;
  for (Table* table :
       {&mappings_, &locations_, &functions_, &links_, &strings_, &attributes_, &stacks_}) {
    tables += table->encoded;
    table->encoded = {};
  }
  AppendFields(resources_, [&](auto& fields) { fields.Text(kDictionary, tables); });
  return std::move(resources_);
}

}  // namespace perftape::otlp
