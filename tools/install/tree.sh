#!/bin/sh
# Lays weft out as an installed library: `tree.sh OUT HEADERS LIBS VERSION TEMPLATES AR ARCHIVES...`.
# HEADERS has lines `NAME PATH`, NAME as an include names it; LIBS are the linker's flags; TEMPLATES is the folder of the *.in files.
# Only headers that weft.h and distributed/distributed.h reach are taken: those of kernels need Eigen or oneDNN, and users need neither.
set -eu
out=$1 headers=$2 libs=$3 version=$4 templates=$5 ar=$6
shift 6

include=$out/include/weft
mkdir -p "$include" "$out/lib/pkgconfig" "$out/lib/cmake/weft"

awk '
  { path[$1] = $2 }
  END {
    queue[count++] = "weft.h"
    queue[count++] = "distributed/distributed.h"
    for (i = 0; i < count; ++i) {
      name = queue[i]
      if (!(name in path) || name in seen) continue
      seen[name]
      print name, path[name]
      while ((getline line < path[name]) > 0)
        if (line ~ /^[ \t]*#[ \t]*include[ \t]*"/) { split(line, part, "\""); queue[count++] = part[2] }
      close(path[name])
    }
  }' "$headers" |
  while read -r name path; do
    mkdir -p "$include/$(dirname "$name")"
    # Headers include each other by their own place, so that one of the same name in the user's project hides none.
    awk -v name="$name" '
      function from_here(other) {
        n = split(name, own, "/"); split(other, part, "/")
        for (same = 1; same < n && own[same] == part[same]; ++same) other = substr(other, length(part[same]) + 2)
        for (up = same; up < n; ++up) other = "../" other
        return other
      }
      /^[ \t]*#[ \t]*include[ \t]*"/ { split($0, quoted, "\""); $0 = quoted[1] "\"" from_here(quoted[2]) "\"" quoted[3] }
      { print }' "$path" >"$include/$name"
  done

# One archive with the objects of all; ar's own scripts keep objects of the same name apart.
{
  echo "create $out/lib/libweft.a"
  for archive in "$@"; do echo "addlib $archive"; done
  echo save
  echo end
} | "$ar" -M

fill() {
  sed -e "s|@VERSION@|$version|; s|@LIBS@|$libs|; s|@LIST@|$(echo "$libs" | tr ' ' ';')|" "$templates/$1.in" >"$2"
}
fill weft.pc "$out/lib/pkgconfig/weft.pc"
fill weftConfig.cmake "$out/lib/cmake/weft/weftConfig.cmake"
fill weftConfigVersion.cmake "$out/lib/cmake/weft/weftConfigVersion.cmake"
