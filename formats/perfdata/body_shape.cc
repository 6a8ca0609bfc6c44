// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/body_shape.h"

#include <array>
#include <optional>

#include "formats/perfdata/kernel_layout.h"
#include "formats/perfdata/tool_layout.h"

namespace perftape::perfdata {
namespace {

// A cursor without bytes. It counts what a layout reads if all fields are zero, up to the first
// field whose size differs between records.
class ShapeCursor {
 public:
  static constexpr bool kReads = true;

  template <FixedField T>
  void Fixed(T& field, const auto&... /*info*/) {
    field = {};
    Padding(sizeof(T));
  }
  template <class T>
  void Array(FixedArray<T>& /*field*/, std::uint64_t count, const auto&... /*info*/) {
    Padding(count * sizeof(T));
    EndOfFixed();
  }
  void Words(WordArray& field, std::uint64_t count, const auto&... /*info*/) {
    Array(field, count);
  }
  void Blob(Bytes& /*field*/, std::uint64_t size, const auto&... /*info*/) {
    Padding(size);
    EndOfFixed();
  }
  void PaddedString(std::string_view& /*field*/, std::uint64_t size, const auto&... /*info*/) {
    Padding(size);
  }
  void Name(std::string_view& /*field*/, const auto&... /*info*/) { End(BodyShape::End::kName); }
  void Count(std::uint64_t& count, std::uint64_t entry_size) {
    Fixed(count);
    if (!has_ended_) shape_.entry_size = static_cast<std::uint16_t>(entry_size);
    End(BodyShape::End::kEntries);
  }
  void Padding(std::uint64_t size) {
    if (!has_ended_) shape_.fixed_size += static_cast<std::uint16_t>(size);
  }
  void EndOfFixed() { End(BodyShape::End::kOpen); }

  void Break() {}
  bool ok() const { return true; }
  std::size_t remaining() const { return 0; }
  // The fixed part of an attribute, the only field that is not read with the functions above.
  std::string_view Rest() const {
    static constexpr char kZeros[EventAttr::kSmallestSize] = {};
    return {kZeros, sizeof kZeros};
  }
  std::endian order() const { return std::endian::native; }

  const BodyShape& shape() const { return shape_; }

 private:
  void End(BodyShape::End end) {
    if (!has_ended_) shape_.end = end;
    has_ended_ = true;
  }

  BodyShape shape_;
  bool has_ended_ = false;
};

template <class Record>
BodyShape ShapeOfType() {
  ShapeCursor at;
  Record record;
  Layout(at, record, RecordShape{.misc = 0, .format = SampleFormat{}});
  return at.shape();
}

template <class... Records>
auto ShapesOf(RecordTypes<Records...> /*of*/) {
  return std::to_array<BodyShape>({ShapeOfType<Records>()...});
}

}  // namespace

const BodyShape* ShapeOf(RecordType type) {
  static const auto kShapes = ShapesOf(AllRecordTypes{});  // a row is kRecordIndex of its type
  std::optional<std::size_t> index;
  VisitRecordType(type,
                  [&]<class Record>(std::type_identity<Record>) { index = kRecordIndex<Record>; });
  return index ? &kShapes[*index] : nullptr;
}

}  // namespace perftape::perfdata
