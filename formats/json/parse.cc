// SPDX-License-Identifier: Apache-2.0
#include "formats/json/parse.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/json/read.h"

namespace perftape::json {
namespace {

class Builder final : public Handler {
 public:
  explicit Builder(std::size_t max_depth) : max_depth_(max_depth) {}

  Value Built() && { return std::move(root_); }

  bool BeginObject() override { return Begin(Value::EmptyObject()); }
  bool EndObject() override { return End(); }
  bool BeginList() override { return Begin(Value::EmptyList()); }
  bool EndList() override { return End(); }
  bool Key(std::string_view key) override {
    if (is_kept()) key_ = key;
    return true;
  }
  bool Null() override { return Add(nullptr); }
  bool Boolean(bool value) override { return Add(value); }
  bool Unsigned(std::uint64_t value) override { return Add(value); }
  bool Integer(std::int64_t value) override { return Add(value); }
  bool Real(double value) override { return Add(value); }
  bool Text(std::string_view text) override { return Add(text); }

 private:
  bool is_kept() const { return depth_ <= max_depth_; }

  bool Begin(Value container) {
    if (is_kept()) open_.push_back(&Insert(std::move(container)));
    ++depth_;
    return true;
  }
  bool End() {
    --depth_;
    if (is_kept()) open_.pop_back();
    return true;
  }
  template <class Content>
  bool Add(Content content) {
    if (is_kept()) Insert(Value(content));
    return true;
  }

  // An open list or object does not grow while one of its elements is open, so their addresses
  // stay valid.
  Value& Insert(Value value) {
    if (open_.empty()) return root_ = std::move(value);
    Value& parent = *open_.back();
    return parent.is_list() ? parent.push_back(std::move(value))
                            : parent.AddMember(std::move(key_), std::move(value));
  }

  std::size_t max_depth_;
  std::size_t depth_ = 0;
  Value root_;
  std::vector<Value*> open_;
  std::string key_;
};

}  // namespace

Result<Value> Parse(std::string_view text, std::size_t max_depth) {
  Builder builder(max_depth);
  TRY(Read(text, builder, std::numeric_limits<std::size_t>::max()));
  return std::move(builder).Built();
}

}  // namespace perftape::json
