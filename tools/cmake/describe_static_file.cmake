# SPDX-License-Identifier: Apache-2.0
# cmake -DFILE=… -DVERSION=… -DLIBRARIES="NAME,VERSION,LICENCE,PURL;…" -P describe_static_file.cmake
# Writes FILE.sha256 and FILE.spdx.json. PURL is the package URL of the source package that was linked; it and the
# version may be empty. Set SOURCE_DATE_EPOCH for the same bytes each time.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET FILE FILENAME name)
file(SHA256 ${FILE} checksum)
file(WRITE ${FILE}.sha256 "${checksum}  ${name}\n")
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)

# Appends a package to `packages`, in JSON. `more` is further members.
function(add_package id name version licence more)
  set(version_info "")
  if(version)
    set(version_info "\"versionInfo\": \"${version}\", ")
  endif()
  list(APPEND packages "    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", ${version_info}\
\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\", \
\"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"${more}}")
  set(packages "${packages}" PARENT_SCOPE)
endfunction()

set(relations "    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \
\"relatedSpdxElement\": \"SPDXRef-perftape\"}")
add_package(perftape perftape "${VERSION}" "Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)" ", \
\"packageFileName\": \"${name}\", \"primaryPackagePurpose\": \"APPLICATION\", \
\"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"${checksum}\"}]")
foreach(row IN LISTS LIBRARIES)
  string(REPLACE "," ";" row "${row}")
  list(GET row 0 library)
  list(GET row 1 version)
  list(GET row 2 licence)
  list(GET row 3 purl)
  string(REGEX REPLACE "[^A-Za-z0-9.-]+" "-" id "${library}")
  set(more "")
  if(purl)
    set(more ", \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \
\"referenceLocator\": \"${purl}\"}]")
  endif()
  add_package(${id} "${library}" "${version}" "${licence}" "${more}")
  list(APPEND relations "    {\"spdxElementId\": \"SPDXRef-perftape\", \"relationshipType\": \"STATIC_LINK\", \
\"relatedSpdxElement\": \"SPDXRef-${id}\"}")
endforeach()
list(JOIN packages ",\n" packages)
list(JOIN relations ",\n" relations)
file(WRITE ${FILE}.spdx.json "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"${name}-${VERSION}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/${name}-${VERSION}-${checksum}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: perftape-${VERSION}\"]},
  \"hasExtractedLicensingInfos\": [
    {\"licenseId\": \"LicenseRef-public-domain\", \"extractedText\": \"Its authors placed liblzma in the public domain.\"}
  ],
  \"packages\": [
${packages}
  ],
  \"relationships\": [
${relations}
  ]
}
")
