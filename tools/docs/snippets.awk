# The ```cpp blocks of a Markdown file as one program: each is the body of a function, which main calls; "```cpp global" blocks
# stay outside of functions.
BEGIN {
  print "#include <iostream>\n#include <thread>\n\n#include \"weft.h\"\n\nusing namespace weft;\n"
}
/^```cpp global$/ { inside = 1; next }
/^```cpp$/ { inside = 2; ++count; print "static void block_" count "() {  // line " NR; next }
/^```$/ { if (inside == 2) print "}"; inside = 0; next }
inside { print }
END {
  print "int main() {"
  for (i = 1; i <= count; ++i) print "  block_" i "();"
  print "  return 0;\n}"
}
