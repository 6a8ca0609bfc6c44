# SPDX-License-Identifier: Apache-2.0
# cpack runs this between installing and packing: adds what Debian's policy demands of each package (copyright,
# changelog), and changes what it demands otherwise (compressed man pages, no copies of common licences).
file(READ ${CMAKE_CURRENT_LIST_DIR}/changelog.in changelog)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(maintainer "${CPACK_PACKAGE_CONTACT}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, if it is set
string(CONFIGURE "${changelog}" changelog @ONLY)

find_program(GZIP gzip REQUIRED)
function(compress)
  execute_process(COMMAND ${GZIP} -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(package IN ITEMS perftape libperftape-dev)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr)
  set(doc ${root}/share/doc/${package})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc}
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(WRITE ${doc}/changelog.Debian "${changelog}")
  compress(${doc}/changelog.Debian)
  file(GLOB licences ${doc}/LICENSE*)
  if(licences)
    file(REMOVE ${licences})  # the copyright file names those of /usr/share/common-licenses
  endif()
  if(EXISTS ${doc}/CHANGELOG.md)
    file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
    compress(${doc}/changelog)
  endif()
  file(GLOB pages ${root}/share/man/man*/*.[1-9])
  if(pages)
    compress(${pages})
  endif()
endforeach()
