// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/form.h"

namespace perftape::dwarf {

std::optional<std::uint8_t> FixedSize(std::uint16_t form, Encoding encoding) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return encoding.address_size;
    case DW_FORM_ref_addr:  // an address until DWARF 3 made it an offset
      return encoding.version <= 2 ? encoding.address_size : encoding.offset_size;
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return encoding.offset_size;
    default:
      return std::nullopt;
  }
}

FormValue ReadForm(Cursor& at, std::uint16_t form, std::int64_t constant, Encoding encoding) {
  if (form == DW_FORM_indirect) {
    form = static_cast<std::uint16_t>(at.Uleb());
    if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) at.Break();
  }
  FormValue value = {.form = form};
  switch (form) {
    case DW_FORM_flag_present:
      value.number = 1;
      return value;
    case DW_FORM_implicit_const:
      value.number = static_cast<std::uint64_t>(constant);
      return value;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      value.number = at.Uleb();
      return value;
    case DW_FORM_sdata:
      value.number = static_cast<std::uint64_t>(at.Sleb());
      return value;
    case DW_FORM_string:
      value.text = at.String();
      return value;
    case DW_FORM_data16:
      at.Skip(16);
      return value;
    case DW_FORM_block1:
      at.Skip(at.Fixed<std::uint8_t>());
      return value;
    case DW_FORM_block2:
      at.Skip(at.Fixed<std::uint16_t>());
      return value;
    case DW_FORM_block4:
      at.Skip(at.Fixed<std::uint32_t>());
      return value;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      at.Skip(at.Uleb());
      return value;
    default:
      break;
  }
  if (const auto size = FixedSize(form, encoding)) {
    value.number = at.Unsigned(*size);
  } else {
    at.Break();
  }
  return value;
}

}  // namespace perftape::dwarf
